import { toUSVString } from 'node:util';
import { z } from 'zod';
import type { Route } from '../../../../src/http/route.js';
import { makeBody, type FuzzBody } from './bodies.js';
import { brokenValue, oddlySpelled } from './broken-values.js';
import type { FuzzCaller } from './callers.js';
import type { Dice } from './dice.js';
import { contentType, oddHeaders, oddMethods, oddPath, type Header } from './heads.js';
import type { KnownIds, PathIds } from './known-ids.js';
import { oddTexts } from './odd-values.js';
import { shapeOf, type Shape } from './shape.js';
import { uuid, validValue } from './valid-values.js';

/** A route with the shapes of its input. */
export interface Target {
  readonly route: Route;
  readonly params: Shape;
  readonly query: Shape;
  /** Null if the route takes no body. */
  readonly body: Shape | null;
  /**
   * The weight beside other routes. Routes that remove access, or that are slow, have a small weight, because they
   * would leave little to test.
   */
  readonly weight: number;
}

export function makeTarget(route: Route): Target {
  const { params, query, body } = route.request;
  return {
    route,
    params: shapeOf(params),
    query: shapeOf(query),
    body:
      body instanceof z.ZodUndefined ? null : route.raw === undefined ? shapeOf(body) : { type: 'object' },
    weight: endsThings(route) || isAboutTheService(route) || route.name === 'sendEmailCode' ? 1 : 5,
  };
}

function endsThings({ method, name }: Route): boolean {
  return method === 'DELETE' || name === 'logout' || name === 'changePassword';
}

function isAboutTheService({ access, method }: Route): boolean {
  return access.kind === 'public' && method === 'GET';
}

export interface FuzzRequest {
  readonly method: string;
  /** Path and query in their sent form. */
  readonly target: string;
  /** The path's parameters, if the path is unchanged. */
  readonly params: PathIds;
  /** The changes to the request. */
  readonly kind: string;
  readonly bytes: Buffer;
  /** Whether no route may accept its body. */
  readonly unacceptable: boolean;
}

/** Makes a request for a route by a caller: well-formed, or with one or two flaws. */
export function makeRequest(
  { route, params, query, body }: Target,
  { credentials, ids, words }: FuzzCaller,
  dice: Dice,
): FuzzRequest {
  const given = paramsFor(route.path, params, ids, dice);
  const path = route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(given[name] ?? ''));
  const strangePath = dice.chance(0.05);
  const strangeMethod = dice.chance(0.02);
  const strangeHeaders = [...conditions(route, dice), ...(dice.chance(0.08) ? oddHeaders(dice) : [])];
  const target = strangePath ? oddPath(path, dice) : path + queryFor(query, dice);
  const method = strangeMethod ? dice.pick(oddMethods) : route.method;
  const content = contentFor(body && words.inform(body), dice);
  const headers: readonly Header[] = [
    ['host', 'localhost'],
    ...credentials,
    ...content.headers,
    ...strangeHeaders,
  ];
  const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return {
    method,
    target,
    params: strangePath ? {} : given,
    kind: [
      content.kind,
      ...(strangePath ? ['odd path'] : []),
      ...(strangeMethod ? ['odd method'] : []),
      ...strangeHeaders.map(([name]) => name),
    ].join(', '),
    bytes: Buffer.concat([
      Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines}\r\n`, 'latin1'),
      content.bytes,
    ]),
    unacceptable: body !== null && route.raw === undefined && content.unacceptable === true,
  };
}

/** Makes the headers that this route reads: keys that repeat, and revisions that may be the resource's. */
function conditions({ idempotent, ifMatch }: Route, dice: Dice): readonly Header[] {
  return [
    ...(idempotent !== undefined && dice.chance(0.3)
      ? [['idempotency-key', dice.pick(['a', 'b', 'c'])] as const]
      : []),
    ...(ifMatch === true && dice.chance(0.3) ? [['if-match', `"${dice.below(3)}-abc"`] as const] : []),
  ];
}

/** Makes a body with the headers that describe it. Rarely, a route without a body gets one. */
function contentFor(body: Shape | null, dice: Dice): FuzzBody & { readonly headers: readonly Header[] } {
  if (body === null && !dice.chance(0.02)) return { kind: 'no body', bytes: Buffer.alloc(0), headers: [] };
  const made = makeBody(body ?? { type: 'object' }, dice);
  const { kind, bytes } = made;
  const type = contentType(dice);
  if (!dice.chance(0.03)) return { ...made, headers: [...type, ['content-length', String(bytes.length)]] };
  return {
    ...made,
    kind: `${kind}, chunked`,
    bytes: chunked(bytes),
    headers: [...type, ['transfer-encoding', 'chunked']],
  };
}

function chunked(bytes: Buffer): Buffer {
  const end = Buffer.from('0\r\n\r\n');
  if (bytes.length === 0) return end;
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n'), end]);
}

/** Returns mostly ids that the caller knows, sometimes unknown ids, and rarely texts that are no ids. */
function paramsFor(pattern: string, shape: Shape, ids: KnownIds, dice: Dice): PathIds {
  const known = dice.chance(0.85) ? ids.idsFor(pattern, dice) : {};
  const odd = oddTexts.filter((text) => text !== '');
  return Object.fromEntries(
    Object.keys(shape.properties ?? {}).map((name) => [
      name,
      known[name] ?? (dice.chance(0.7) ? uuid(dice) : dice.pick(odd)),
    ]),
  );
}

/** Makes a query. Only text can be sent, so other values are converted to text. */
function queryFor(shape: Shape, dice: Dice): string {
  if (Object.keys(shape.properties ?? {}).length === 0 || dice.chance(0.4)) return '';
  const value = dice.choose<unknown>(
    () => validValue(shape, dice),
    () => brokenValue(shape, dice),
    () => oddlySpelled(shape, dice),
  );
  if (typeof value !== 'object' || value === null) return '?x';
  const pairs = Object.entries(value).map(([name, of]): [string, string] => [name, toUSVString(String(of))]);
  return `?${new URLSearchParams(pairs).toString()}`.slice(0, 4_200);
}
