/** The time limits of calls. Every call ends within its limit, even when the server does not answer. */
export interface MongoDbLimits {
  /** The limit for connecting and checking the server together. */
  readonly openMs: number;
  readonly readMs: number;
  readonly writeMs: number;
  /** The limit for the creation of a collection's indexes, which takes long where there are many documents. */
  readonly indexMs: number;
  /** The longest wait for the reply to one command, where the URL shortens it. It does not apply to `indexMs`. */
  readonly replyMs?: number;
}

/** The limits of src/stores/mongodb/README.md#calls. */
export const defaultMongoDbLimits: MongoDbLimits = {
  openMs: 10_000,
  readMs: 2000,
  writeMs: 5000,
  indexMs: 60_000,
};

/** Limits one attempt of a read to half of the call, so that one frozen connection leaves time for another attempt. */
export function readTryMs(limits: MongoDbLimits): number {
  return Math.min(limits.readMs / 2, limits.replyMs ?? Infinity);
}

/** Limits one attempt of a write to less than half of the call, because a read-back comes between two attempts. */
export function writeTryMs(limits: MongoDbLimits): number {
  return Math.min(limits.writeMs * 0.4, limits.replyMs ?? Infinity);
}

/**
 * Ends the driver's wait for a server or connection before the attempt ends, with an error that says it was not sent. A
 * longer wait would send the command after its caller has given up.
 */
export function connectionWaitMs(limits: MongoDbLimits): number {
  return Math.ceil(Math.min(readTryMs(limits), writeTryMs(limits)) * 0.8);
}

/** Limits the wait for a permit. A shorter one would refuse more calls a second, and refusals cost time too. */
export function permitWaitMs(limits: MongoDbLimits): number {
  return limits.readMs;
}
