import { errorStatus, retryAfterOf, type ErrorCode, type TransportStatus } from './error-codes.js';

interface HttpErrorOptions {
  readonly status?: TransportStatus;
  /** Seconds. They are rounded up to whole seconds. */
  readonly retryAfter?: number;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** An error with a known reply. The caller sees the message. */
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

/** Cuts the message at 300 characters, so that a caller's input cannot make it long. */
export function errorBody(code: string, message: string): string {
  return JSON.stringify({ code, message: message.length > 300 ? `${message.slice(0, 299)}…` : message });
}
