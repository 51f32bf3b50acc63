import { codeOf } from '../../kit/errors.js';
import { request } from 'node:http';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { z } from 'zod';
import type { JsonValue } from '../../event-sourcing/ports/domain-event.js';

export interface OperatorRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: OperatorInput;
}

/** Fields of a body. Undefined ones are left out. */
export type OperatorInput = Readonly<Record<string, JsonValue | undefined>>;

/** Parameters of a query. Undefined ones are left out. */
export type OperatorQuery = Readonly<Record<string, string | number | undefined>>;

/** What a route replied. `message` is for a person at a terminal. */
export type OperatorReply =
  | {
      readonly ok: true;
      /** Null for a reply that is no JSON. */
      readonly result: JsonValue;
      readonly bytes: Buffer;
    }
  | { readonly ok: false; readonly code: string; readonly message: string };

const errorSchema = z.looseObject({ code: z.string(), message: z.string() });

/** Makes the request of a read. @param operation the words of the path below `/operator`, or a path of the service */
export function readRequest(operation: string, query: OperatorQuery = {}): OperatorRequest {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  const text = new URLSearchParams(
    given.map(([name, value]): [string, string] => [name, String(value)]),
  ).toString();
  return { method: 'GET', path: `${pathOf(operation)}${text === '' ? '' : `?${text}`}` };
}

/** Makes the request of a change. @param operation see `readRequest` */
export function changeRequest(operation: string, body: OperatorInput = {}): OperatorRequest {
  return { method: 'POST', path: pathOf(operation), body };
}

function pathOf(operation: string): string {
  return operation.startsWith('/') ? operation : `/operator/${operation.replaceAll(' ', '/')}`;
}

/**
 * Sends a request to the routes of operators.
 * @param open connects to them
 * @param answerMsMax time limit for the reply in ms; none when it is left out
 * @throws the system's error when nothing listens
 */
export function callOperator(
  open: () => Duplex,
  { method, path, body }: OperatorRequest,
  answerMsMax?: number,
): Promise<OperatorReply> {
  return new Promise((resolve, reject) => {
    const text = body === undefined ? null : JSON.stringify(body);
    const headers =
      text === null ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) };
    const asked = request({ createConnection: open, method, path, headers });
    const timer = answerMsMax === undefined ? undefined : setTimeout(() => asked.destroy(), answerMsMax);
    const unanswered = (): void => {
      resolve({
        ok: false,
        code: 'no_answer',
        message:
          `the service ended or gave no answer${answerMsMax === undefined ? '' : ` in ${answerMsMax / 1_000} s`}; ` +
          'whether the command was carried out is not known: ask again',
      });
    };
    asked.once('close', () => clearTimeout(timer));
    asked.once('error', (error: NodeJS.ErrnoException) => {
      if (error.syscall === 'connect') reject(error);
      else unanswered();
    });
    asked.once('response', (response) => {
      const {
        statusCode = 0,
        headers: { 'content-type': type = '' },
      } = response;
      buffer(response)
        .then((bytes) => {
          const isJson = type.startsWith('application/json');
          const result = isJson ? (JSON.parse(bytes.toString()) as JsonValue) : null;
          resolve(
            statusCode < 400 ? { ok: true, result, bytes } : { ok: false, ...errorSchema.parse(result) },
          );
        })
        .catch(unanswered);
    });
    asked.end(text ?? undefined);
  });
}

/**
 * Tells whether a process listens on the socket of a data directory. One that is stopped by a signal still listens.
 * @throws the system's error when the socket may not be opened
 */
export function isServed(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', (error) => {
      if (isUnserved(error)) resolve(false);
      else reject(error);
    });
  });
}

/** Returns whether an error says that there is no socket, or that a killed service has left one. */
export function isUnserved(error: unknown): boolean {
  return ['ENOENT', 'ECONNREFUSED'].includes(codeOf(error));
}
