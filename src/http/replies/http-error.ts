import type { FieldProblem } from '../../validation/field-problems.js';
import { errorStatus, retryAfterOf, type ErrorCode, type TransportStatus } from './error-codes.js';

interface HttpErrorOptions {
  readonly status?: TransportStatus;
  /** Seconds. They are rounded up to whole seconds. */
  readonly retryAfter?: number;
  /** Lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The fields that are wrong, which the message lists. */
  readonly problems?: readonly FieldProblem[];
  /** Tells cases of one code apart. */
  readonly reason?: string | null;
}

/** An error with a known reply. The caller sees the message. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly problems: readonly FieldProblem[];
  readonly reason: string | null;
  constructor(code: ErrorCode, message: string, options: HttpErrorOptions = {}) {
    super(message);
    this.code = code;
    this.status = options.status ?? errorStatus[code];
    this.problems = options.problems ?? [];
    this.reason = options.reason ?? null;
    const retryAfter = options.retryAfter ?? retryAfterOf(code);
    this.headers =
      retryAfter === undefined
        ? (options.headers ?? {})
        : { ...options.headers, 'retry-after': String(Math.max(1, Math.ceil(retryAfter))) };
  }
}
