import {
  CommandRejected,
  DocumentTooLarge,
  EventTooLarge,
  PreconditionFailed,
  StoreDamaged,
  StoreUnavailable,
  UndecodableEvent,
} from '../../event-sourcing/ports/errors.js';
import { Overloaded } from '../../kit/semaphore.js';
import { InvalidInput } from '../../validation/field-problems.js';
import { TooManyAttempts } from '../../areas/shared/rejections.js';
import { HttpError } from './error-codes.js';
import { errorOfRejection } from './rejections.js';

const framesMax = 12;

/** Returns the stack frames, nearest first; none if it cannot separate them from the message. */
export function framesOf({ stack = '', message }: Error): readonly string[] {
  // Lines of a message may look like frames.
  const start = stack.indexOf(message);
  if (start === -1) return [];
  return stack
    .slice(start + message.length)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
    .slice(0, framesMax)
    .map((line) => line.trim());
}

/**
 * Translates an error to its reply. Returns null for an unexpected one, which becomes a 500 without details.
 * @param mayHaveWritten whether the request has begun an append that is not known to have failed
 */
export function toHttpError(error: unknown, mayHaveWritten = false): HttpError | null {
  if (error instanceof HttpError) return error;
  if (error instanceof CommandRejected) return ofRejection(error as CommandRejected);
  if (error instanceof TooManyAttempts)
    return new HttpError('too_many_attempts', error.message, { retryAfter: error.retryAfterSeconds });
  if (error instanceof PreconditionFailed) return new HttpError('precondition_failed', error.message);
  if (error instanceof DocumentTooLarge) {
    return new HttpError(
      'document_too_large',
      'the resource would become too large to be stored; nothing was changed',
    );
  }
  if (error instanceof EventTooLarge)
    return new HttpError('document_too_large', 'the change is too large to be stored; nothing was changed');
  if (error instanceof Overloaded) return mayHaveWritten ? outcomeUnknown : overloaded;
  if (error instanceof StoreUnavailable) return mayHaveWritten ? outcomeUnknown : storeUnavailable;
  return null;
}

function ofRejection(error: CommandRejected): HttpError | null {
  const problems = error instanceof InvalidInput ? error.problems : [];
  const code = errorOfRejection(error.code);
  return code === null ? null : new HttpError(code, error.message, { problems, reason: error.reason });
}

/** The reply to a request that wrote nothing, because a queue is full. */
const overloaded = new HttpError('overloaded', 'the service is busy; try again');

/** The reply to a request that wrote nothing. */
const storeUnavailable = new HttpError(
  'store_unavailable',
  'a store does not answer; nothing was written, so try again',
);

/** The reply to a request that may have written. */
const outcomeUnknown = new HttpError(
  'outcome_unknown',
  'the service is busy or a store does not answer, and the change may have been made; repeat the request with the same Idempotency-Key, or read before you repeat it',
);

export const internalError = new HttpError('internal_error', 'the service failed to answer');

interface DescribedError {
  readonly name: string;
  readonly message?: string;
  readonly code?: string;
  readonly frames?: readonly string[];
}

/** Errors with sentences of this service. They contain no secret or personal data and tell what to do. */
const explained = [
  ...[
    HttpError,
    StoreUnavailable,
    StoreDamaged,
    UndecodableEvent,
    DocumentTooLarge,
    EventTooLarge,
    Overloaded,
  ],
] as const;

/**
 * Describes an error for the log. An error of this service keeps its sentence. Of another error the log gets name, code
 * and stack frames, because the message of a parser may quote the secret that it parses.
 */
export function describeForLog(error: unknown): DescribedError {
  if (!(error instanceof Error)) return { name: typeof error };
  if (explained.some((known) => error instanceof known)) return { name: error.name, message: error.message };
  const code = 'code' in error && typeof error.code === 'string' ? error.code : undefined;
  return { name: error.name, ...(code === undefined ? {} : { code }), frames: framesOf(error) };
}
