import {
  AccessDeniedError,
  MaxAppendSizeExceededError,
  StreamDeletedError,
  type CommandError,
} from '@eventstore/db-client';
import {
  EventTooLarge,
  OutcomeUnknown,
  StoreDamaged,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../event-sourcing/errors.js';

/** What a failed read means to the caller: no answer now, or damage. */
export function readFailure(error: unknown): Error {
  return verdict(error) ?? new StoreUnavailable(`the event store did not answer a read: ${describe(error)}`);
}

/**
 * What a failed append means. Only the server's own verdicts say that nothing was written; whatever else went wrong,
 * be it before the request left, may hide an append that happened or still happens.
 */
export function appendFailure(error: unknown): Error {
  if (error instanceof MaxAppendSizeExceededError) {
    return new EventTooLarge('the event store refused an append as too large');
  }
  return verdict(error) ?? new OutcomeUnknown(`the event store did not settle an append: ${describe(error)}`);
}

/** Errors that are final whatever was asked; null for all others. */
function verdict(error: unknown): Error | null {
  if (error instanceof AccessDeniedError) {
    return new StoreUnavailable(
      'the event store refused the user of the connection string; it needs rights to read $all and to read and write the streams',
    );
  }
  if (error instanceof StreamDeletedError) {
    return new StoreDamaged(
      `stream ${error.streamName} was deleted on the server, which this service never does; restore the log from a backup`,
    );
  }
  // The server's words (RpcExceptions.cs, from 23.10 on); before, it says only that something went wrong. It looks only up to
  // what is indexed, which a majority has (AllReader.cs), so a leader that has been replaced does not say so of a healthy log.
  if (error instanceof Error && error.message.includes('read from an invalid position')) {
    return new StoreDamaged(
      'a reader of the EventStoreDB log has been at a place where no record begins: the log was replaced by an older one. ' +
        'Restore its newest backup, or stop the service, delete the read models and start again',
    );
  }
  // Kernel errors that were made further down pass through.
  return isKernelError(error) ? error : null;
}

function isKernelError(error: unknown): error is Error {
  return (
    error instanceof StoreUnavailable ||
    error instanceof StoreDamaged ||
    error instanceof WrongExpectedRevision ||
    error instanceof EventTooLarge
  );
}

/** The kind of error and its message. Messages of the client and of gRPC name addresses, never credentials or events. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { type } = error as Partial<Pick<CommandError, 'type'>>;
  return `${type ?? error.name}: ${error.message}`;
}
