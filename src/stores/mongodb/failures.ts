import { MongoError, MongoServerError, MongoWriteConcernError } from 'mongodb';

/**
 * What an error says about the call that ended with it:
 * - `not-sent`: the server never got it;
 * - `unknown`: no verdict; it may have happened, or may happen later;
 * - `rejected`: the server's verdict that it did not happen, and will not when repeated;
 * - `closed`: the client is shut;
 * - `bug`: a mistake of ours; passed on as it is.
 */
export interface Failure {
  readonly kind: 'not-sent' | 'unknown' | 'rejected' | 'closed' | 'bug';
  /** For messages and logs: names, codes and addresses, never what was stored or asked for. */
  readonly reason: string;
}

/** Raised in our own process when a try has used up its time. */
export class AttemptTimedOut extends Error {
  override readonly name = 'AttemptTimedOut';
}

/** A reply that leaves the outcome open: applied here, perhaps, but not where it has to be. */
export class NoVerdict extends Error {
  override readonly name = 'NoVerdict';
}

/** A reply that refuses a write for another reason than its guard. */
export class WriteRejected extends Error {
  override readonly name = 'WriteRejected';
}

/** Errors of the driver that come before anything is sent. Some of their classes are not exported, hence names. */
const neverSent: ReadonlySet<string> = new Set([
  'MongoServerSelectionError',
  'MongoWaitQueueTimeoutError',
  'MongoPoolClearedError',
]);

const closed: ReadonlySet<string> = new Set([
  'MongoNotConnectedError',
  'MongoPoolClosedError',
  'MongoTopologyClosedError',
  'MongoClientClosedError',
]);

const misuse: ReadonlySet<string> = new Set([
  'MongoParseError',
  'MongoInvalidArgumentError',
  'MongoMissingCredentialsError',
  'MongoMissingDependencyError',
  'MongoCompatibilityError',
]);

/**
 * Verdicts that another try may change: the "retryable" codes of MongoDB's Retryable Reads and Retryable Writes
 * specifications, and time limits. Some come after the write was applied, so they count as no verdict.
 */
const transientCodes: ReadonlySet<number> = new Set([
  6, 7, 50, 64, 89, 91, 112, 134, 189, 202, 262, 317, 358, 384, 462, 9001, 10_107, 11_600, 11_602, 13_435,
  13_436,
]);

export const duplicateKeyCode = 11_000;

export function classify(error: unknown): Failure {
  if (!(error instanceof Error)) return { kind: 'unknown', reason: 'no reason given' };
  if (error instanceof AttemptTimedOut || error instanceof NoVerdict)
    return { kind: 'unknown', reason: error.message };
  if (error instanceof WriteRejected) return { kind: 'rejected', reason: error.message };
  if (error instanceof MongoServerError) return classifyVerdict(error);
  if (error instanceof MongoError) return { kind: kindOfDriverError(error), reason: describe(error) };
  if (error instanceof TypeError || error instanceof RangeError)
    return { kind: 'bug', reason: error.message };
  return { kind: wasConnecting(error) ? 'not-sent' : 'unknown', reason: describe(error) };
}

/** Node's own errors get through the driver, for instance when a connection is reset while it is being written to. */
function wasConnecting(error: unknown): boolean {
  return (
    error instanceof Error &&
    'syscall' in error &&
    (error.syscall === 'connect' || error.syscall === 'getaddrinfo')
  );
}

/** Whether a server's code may go away by itself. */
export function isTransient(code: number): boolean {
  return transientCodes.has(code);
}

function classifyVerdict(error: MongoServerError): Failure {
  const code = typeof error.code === 'number' ? error.code : undefined;
  // The message is left out: some quote the document.
  const name = error.codeName ?? error.name;
  const reason = code === undefined ? name : `${name} (${code})`;
  // Without a code it is no verdict: a bulk write's error wraps whatever happened, with no error of its own.
  const transient =
    code === undefined ||
    error instanceof MongoWriteConcernError ||
    isTransient(code) ||
    error.hasErrorLabel('RetryableWriteError') ||
    error.hasErrorLabel('RetryableError');
  return { kind: transient ? 'unknown' : 'rejected', reason };
}

function kindOfDriverError(error: MongoError): Failure['kind'] {
  const connecting = error.hasErrorLabel('HandshakeError') || wasConnecting(error.cause);
  if (neverSent.has(error.name) || connecting) return 'not-sent';
  if (closed.has(error.name)) return 'closed';
  return misuse.has(error.name) ? 'bug' : 'unknown';
}

/** Network errors name a host and a port, nothing more; of others only the name and the code are told. */
function describe(error: Error): string {
  const told =
    error.name.startsWith('MongoNetwork') || error.name === 'MongoServerSelectionError' || 'syscall' in error;
  if (told) return `${error.name}: ${error.message}`;
  return 'code' in error && typeof error.code === 'string' ? `${error.name} (${error.code})` : error.name;
}
