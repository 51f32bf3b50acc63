import { errorStatus, retryAfterOf } from './error-codes.js';
import type { ErrorCode, TransportStatus } from './error-codes.js';

interface HttpErrorOptions {
  readonly status?: TransportStatus;
  /** Seconds, rounded up to whole ones. */
  readonly retryAfter?: number;
  /** Names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error whose reply is decided: status, `{code, message}` and headers. The message is shown to the caller. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  constructor(code: ErrorCode, message: string, options: HttpErrorOptions = {}) {
    super(message);
    this.code = code;
    this.status = options.status ?? errorStatus[code];
    const retryAfter = options.retryAfter ?? retryAfterOf(code);
    this.headers =
      retryAfter === undefined
        ? (options.headers ?? {})
        : { ...options.headers, 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) };
  }
}

/** The body of every error reply. A message never grows with what the caller sent. */
export function errorBody(code: string, message: string): string {
  return JSON.stringify({ code, message: message.length > 300 ? `${message.slice(0, 299)}…` : message });
}
