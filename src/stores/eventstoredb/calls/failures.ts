import { AccessDeniedError, type CommandError } from '@eventstore/db-client';
import {
  EventTooLarge,
  OutcomeUnknown,
  StoreDamaged,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../../event-sourcing/ports/errors.js';

/** What servers before 24.2 say of any failed read of the log, also of a position inside a record (RpcExceptions.cs). */
const unexpectedReadAll = /Unexpected ReadAllResult: Error/;
/** What servers from 24.2 on say of a position inside a record: of a read, and of a subscription. */
const invalidPosition = /ReadAllResult: InvalidPosition|read from an invalid position/;

/** Tells whether a read of the log may have begun where no record begins. */
export function isInsideRecord(error: unknown): boolean {
  return (
    error instanceof Error && (unexpectedReadAll.test(error.message) || invalidPosition.test(error.message))
  );
}

/** Turns the error of a read into an error of the port: no answer now, or damage. */
export function readFailure(error: unknown): Error {
  return verdict(error) ?? new StoreUnavailable(`the event store did not answer a read: ${describe(error)}`);
}

/** Turns the error of an append that was not sent: nothing was written. */
export function unsentFailure(error: unknown): Error {
  return verdict(error) ?? new StoreUnavailable(`the event store does not take appends: ${describe(error)}`);
}

/** Only a verdict of the server proves that nothing was written. After any other error the append may still happen. */
export function appendFailure(error: unknown): Error {
  // Errors of the client come from reads after the append was sent, and say nothing about the append.
  if (isKernelError(error)) return error;
  return new OutcomeUnknown(`the event store did not settle an append: ${describe(error)}`);
}

/** Returns the error of the port for a final verdict; null for every other error. */
function verdict(error: unknown): Error | null {
  if (error instanceof AccessDeniedError) return accessDenied();
  // A server reads only up to its index, which a majority has (AllReader.cs), so a deposed leader does not report this
  // of a healthy log.
  if (error instanceof Error && invalidPosition.test(error.message)) {
    return new StoreDamaged(
      'a reader of the EventStoreDB log has a position where no record begins: the log was replaced by an older one. ' +
        'Restore its newest backup, or stop the service, delete the read models and start again',
    );
  }
  // Errors of the ports that deeper code has thrown pass through.
  return isKernelError(error) ? error : null;
}

export function accessDenied(): StoreUnavailable {
  return new StoreUnavailable(
    'the event store refused the user of the connection string; it needs rights to read $all and to read and write the streams',
  );
}

function isKernelError(error: unknown): error is Error {
  return (
    error instanceof StoreUnavailable ||
    error instanceof StoreDamaged ||
    error instanceof WrongExpectedRevision ||
    error instanceof EventTooLarge
  );
}

/** Messages of the client and of gRPC contain addresses, never credentials or events. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown error';
  const { type } = error as Partial<Pick<CommandError, 'type'>>;
  return `${type ?? error.name}: ${error.message}`;
}
