import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from './error-codes.js';
import { errorBody } from './error-body.js';

interface ParseError {
  readonly reason: string;
  readonly status: number;
  readonly message: string;
}

const malformed: ParseError = {
  reason: 'malformed',
  status: 400,
  message: 'the request is not well-formed HTTP',
};
const parseErrors = new Map<string, ParseError>([
  [
    'HPE_HEADER_OVERFLOW',
    { reason: 'headers_too_large', status: 431, message: 'the headers are larger than 16 KiB' },
  ],
  [
    'ERR_HTTP_REQUEST_TIMEOUT',
    { reason: 'timeout', status: 408, message: 'the request took too long to arrive' },
  ],
  ['ECONNRESET', { reason: 'connection_lost', status: 400, message: 'the connection was lost' }],
]);

/** `reason` labels the measurement. */
export function describeParseError(error: NodeJS.ErrnoException): ParseError {
  return parseErrors.get(error.code ?? '') ?? malformed;
}

/** Writes a whole HTTP/1.1 error reply for a connection without a request. It ends the connection. */
export function rawErrorReply(status: number, code: ErrorCode, message: string): string {
  const body = errorBody(code, message);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
