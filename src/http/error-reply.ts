import {
  CommandRejected,
  Overloaded,
  PreconditionFailed,
  StoreDamaged,
  StoreUnavailable,
  UndecodableEvent,
} from '../event-sourcing/errors.js';
import { framesOf } from './error-frames.js';
import { TooManyAttempts } from '../commands/rejections.js';
import type { ErrorCode } from './error-codes.js';
import { HttpError } from './http-error.js';
import { rejectionErrors } from './rejections.js';

const codeOfRejection = new Map<string, ErrorCode>(Object.entries(rejectionErrors));

/** The reply that an error of the inner layers stands for; null for one that nobody foresaw, which is a bland 500. */
export function toHttpError(error: unknown): HttpError | null {
  if (error instanceof HttpError) return error;
  if (error instanceof CommandRejected) {
    const code = codeOfRejection.get(String(error.code));
    return code === undefined ? null : new HttpError(code, error.message);
  }
  if (error instanceof TooManyAttempts) {
    return new HttpError('too_many_attempts', error.message, { retryAfter: error.retryAfterSeconds });
  }
  if (error instanceof PreconditionFailed) {
    return new HttpError('precondition_failed', 'the resource has changed since you read it');
  }
  if (error instanceof Overloaded) {
    return new HttpError('overloaded', 'the service is busy; try again');
  }
  if (error instanceof StoreUnavailable) {
    return new HttpError('store_unavailable', 'the service is unavailable; try again');
  }
  return null;
}

export const internalError = new HttpError('internal_error', 'the service failed to answer');

interface DescribedError {
  readonly name: string;
  readonly message?: string;
  readonly code?: string;
  readonly frames?: readonly string[];
}

/** Errors whose sentences are ours, name no secret and nobody, and say what to do: a disk is full, a server is away. */
const told = [HttpError, StoreUnavailable, StoreDamaged, UndecodableEvent, Overloaded] as const;

/**
 * An error for the log. Those that are ours are told by their sentence. Of others name, code and where they were thrown: a
 * parser's message may quote the secret that it could not parse.
 */
export function describeForLog(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { name: typeof error };
  if (told.some((known) => error instanceof known)) return { name: error.name, message: error.message };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return {
    name: error.name,
    ...(code === undefined ? {} : { code }),
    frames: framesOf(error),
  };
}
