/** How long calls may take, in milliseconds. Every call ends by then, whatever hangs. */
export interface MongoDbLimits {
  /** Connecting, checking the server and making our indexes, together. */
  readonly openMs: number;
  readonly readMs: number;
  readonly writeMs: number;
}

/** DESIGN section 5. */
export const defaultLimits: MongoDbLimits = { openMs: 10_000, readMs: 2000, writeMs: 5000 };

/**
 * One try may take half of its call's time, so that one frozen connection leaves time for another try.
 * Waiting for a server or a connection ends before that, with an error that says the write was never sent.
 */
export function attemptMs(callMs: number): number {
  return callMs / 2;
}
export function connectionWaitMs(limits: MongoDbLimits): number {
  return Math.ceil(attemptMs(limits.writeMs) * 0.8);
}
