import type { JsonObject } from '../../../../src/event-sourcing/ports/domain-event.js';
import { asObject } from '../../clients/service-client.js';
import type { Dice } from '../fuzz/dice.js';

/** A request that the service serves, as far as its first line goes. */
export interface RawTarget {
  readonly method: string;
  readonly path: string;
}

const methods = ['get', 'post', 'put', 'patch', 'delete'];

/** Reads the requests of a service from its OpenAPI document. Every parameter of a path has the value of an id. */
export function targetsOf(document: JsonObject): readonly RawTarget[] {
  return Object.entries(asObject(document['paths'])).flatMap(([path, item]) =>
    Object.keys(asObject(item))
      .filter((method) => methods.includes(method))
      .map((method) => ({
        method: method.toUpperCase(),
        path: path.replaceAll(/\{\w+\}/g, '018f3b5e-7c00-7000-8000-000000000001'),
      })),
  );
}

export interface Sender {
  readonly dice: Dice;
  readonly targets: readonly RawTarget[];
  /** Header lines that authenticate an account. */
  readonly authorization: string;
}

/** Returns the first bytes of a request: its line, Host and perhaps a token, without the empty line. */
export function headOf(
  { dice, authorization }: Sender,
  { method, path }: RawTarget,
  host = 'Host: a\r\n',
): string {
  return `${method} ${path} HTTP/1.1\r\n${host}${dice.chance(0.5) ? authorization : ''}`;
}

export function withBody({ targets }: Sender): readonly RawTarget[] {
  return targets.filter(({ method }) => method === 'POST' || method === 'PUT' || method === 'PATCH');
}
