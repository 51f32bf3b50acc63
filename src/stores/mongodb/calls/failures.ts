import { MongoError, MongoServerError, MongoWriteConcernError } from 'mongodb';

/**
 * The meaning of an error for the call that ended with it:
 * - `not-sent`: the server never received the call;
 * - `refused`: as `not-sent`, because more calls wait than the connections can serve; a retry would add to them;
 * - `unknown`: no verdict; the write may have happened, or may happen later;
 * - `rejected`: the verdict of the server that the write did not happen; a retry ends in the same way;
 * - `closed`: the client is closed;
 * - `bug`: a bug in this program; the error is passed on unchanged.
 */
export interface CallFailure {
  readonly kind: 'not-sent' | 'refused' | 'unknown' | 'rejected' | 'closed' | 'bug';
  /** The reason for messages and logs. It has names, codes and addresses, never stored or requested data. */
  readonly reason: string;
  /** Whether the end of the call cut the attempt short. An earlier attempt then has the better reason. */
  readonly isCut?: boolean;
}

/** Raised in this process when an attempt has used up its time. `isCut`: the end of the call cut that time short. */
export class AttemptTimedOut extends Error {
  override readonly name = 'AttemptTimedOut';
  readonly isCut: boolean;
  constructor(message: string, { isCut = false }: { readonly isCut?: boolean } = {}) {
    super(message);
    this.isCut = isCut;
  }
}

/** Raised in this process before an attempt has sent anything, because time or permits ran out. */
export class NotSent extends Error {
  override readonly name = 'NotSent';
  readonly kind: 'not-sent' | 'refused';
  constructor(message: string, kind: NotSent['kind'] = 'not-sent') {
    super(message);
    this.kind = kind;
  }
}

/** A reply that leaves the outcome open: the write may be applied on this server, but not on enough servers. */
export class NoVerdict extends Error {
  override readonly name = 'NoVerdict';
}

/** A reply that refuses a write for a reason other than its guard. */
export class WriteRejected extends Error {
  override readonly name = 'WriteRejected';
}

/** Errors that the driver throws before it sends anything, by name, because it does not export all of the classes. */
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
 * The codes of refusals that come before the server does anything (MongoDB manual, "Error Codes"). Any other code is no
 * verdict: elections and time limits may come after the write was applied, and other engines answer "Internal Error" for
 * writes that they have committed.
 */
const refusalCodes: ReadonlySet<number> = new Set([
  // The command is malformed, or the server does not know it or one of its options.
  ...[2, 4, 9, 14, 20, 22, 40, 52, 56, 57, 59, 66, 72, 115, 238, 40_415],
  // The client may not do this.
  ...[13, 18, 8000],
  // The collection, its name or its indexes do not allow it.
  ...[26, 48, 67, 73, 85, 86, 121],
  // The document is too large.
  ...[10_334, 17_280, 17_419, 17_420],
]);

export const duplicateKeyCode = 11_000;

export function classify(error: unknown): CallFailure {
  if (!(error instanceof Error)) return { kind: 'unknown', reason: 'no reason given' };
  if (error instanceof AttemptTimedOut) return { kind: 'unknown', reason: error.message, isCut: error.isCut };
  if (error instanceof NoVerdict) return { kind: 'unknown', reason: error.message };
  if (error instanceof NotSent) return { kind: error.kind, reason: error.message, isCut: true };
  if (error instanceof WriteRejected) return { kind: 'rejected', reason: error.message };
  if (error instanceof MongoServerError) return classifyVerdict(error);
  if (error instanceof MongoError) return { kind: kindOfDriverError(error), reason: describe(error) };
  if (error instanceof TypeError || error instanceof RangeError)
    return { kind: 'bug', reason: error.message };
  return { kind: wasConnecting(error) ? 'not-sent' : 'unknown', reason: describe(error) };
}

/** Tells whether an error occurred while connecting. Errors of Node, also of writes, pass through the driver. */
function wasConnecting(error: unknown): boolean {
  return (
    error instanceof Error &&
    'syscall' in error &&
    (error.syscall === 'connect' || error.syscall === 'getaddrinfo')
  );
}

/** Tells whether this code is a verdict: nothing was written, and a retry ends in the same way. */
export function isRefusal(code: number): boolean {
  return refusalCodes.has(code);
}

function classifyVerdict(error: MongoServerError): CallFailure {
  const code = typeof error.code === 'number' ? error.code : undefined;
  // The message is left out, because some messages quote the document.
  const name = error.codeName ?? error.name;
  const reason = code === undefined ? name : `${name} (${code})`;
  const refused =
    code !== undefined &&
    isRefusal(code) &&
    !(error instanceof MongoWriteConcernError) &&
    !error.hasErrorLabel('RetryableWriteError') &&
    !error.hasErrorLabel('RetryableError');
  return { kind: refused ? 'rejected' : 'unknown', reason };
}

function kindOfDriverError(error: MongoError): CallFailure['kind'] {
  const connecting = error.hasErrorLabel('HandshakeError') || wasConnecting(error.cause);
  if (neverSent.has(error.name) || connecting) return 'not-sent';
  if (closed.has(error.name)) return 'closed';
  return misuse.has(error.name) ? 'bug' : 'unknown';
}

/** Network errors contain only a host and a port. Of other errors only the name and the code are quoted. */
function describe(error: Error): string {
  const quotable =
    error.name.startsWith('MongoNetwork') || error.name === 'MongoServerSelectionError' || 'syscall' in error;
  if (quotable) return `${error.name}: ${error.message}`;
  return 'code' in error && typeof error.code === 'string' ? `${error.name} (${error.code})` : error.name;
}
