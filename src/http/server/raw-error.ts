import { STATUS_CODES } from 'node:http';
import type { ErrorCode } from '../replies/error-codes.js';
import { errorBody } from '../replies/error-body.js';

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

/** What is known of a request that cannot be parsed. */
export interface RequestHead {
  /** The target, or its beginning. */
  readonly url: string;
  readonly origin: string | undefined;
}

/**
 * Reads the head of a request that the parser refuses. Returns null where the bytes that it refuses do not begin with the
 * request: parts of a long head arrive one after the other, and the server keeps only the last.
 */
export function headOf({ rawPacket, bytesParsed = 0 }: UnparsedBytes): RequestHead | null {
  const [head = ''] = rawPacket?.toString('latin1').split('\r\n\r\n', 1) ?? [];
  const url = /^[A-Z]+ (\/[^ \r\n]*)/.exec(head)?.[1];
  // A later request of the packet has another head.
  if (url === undefined || bytesParsed > head.length + 4) return null;
  return { url, origin: /\r\norigin:[ \t]*([^\r\n]*?)[ \t]*(?:\r\n|$)/i.exec(head)?.[1] };
}

/** What Node's parser adds to its error. */
export interface UnparsedBytes {
  readonly rawPacket?: Buffer;
  readonly bytesParsed?: number;
}

/** Writes a whole HTTP/1.1 error reply for a connection without a request. It ends the connection. */
export function rawErrorReply(
  status: number,
  code: ErrorCode,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): string {
  const body = errorBody(code, message);
  return [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json',
    `Content-Length: ${Buffer.byteLength(body)}`,
    'Cache-Control: no-store',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
    '',
    body,
  ].join('\r\n');
}
