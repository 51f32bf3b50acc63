/** How long calls may take, in milliseconds. Every call ends by then, whatever hangs. */
export interface MongoDbLimits {
  /** Connecting, checking the server and making our indexes, together. */
  readonly openMs: number;
  readonly readMs: number;
  readonly writeMs: number;
}

/** DESIGN section 5. */
export const defaultLimits: MongoDbLimits = { openMs: 10_000, readMs: 2000, writeMs: 5000 };

/** One try of a read may take half of its call's time, so that one frozen connection leaves time for another try. */
export function readTryMs(limits: MongoDbLimits): number {
  return limits.readMs / 2;
}

/** One try of a write takes less, since reading back what became of it comes between it and the next. */
export function writeTryMs(limits: MongoDbLimits): number {
  return limits.writeMs * 0.4;
}

/**
 * Waiting for a server or for a connection ends before the try of a write does, with an error that says that the write
 * was never sent.
 */
export function connectionWaitMs(limits: MongoDbLimits): number {
  return Math.ceil(writeTryMs(limits) * 0.8);
}
