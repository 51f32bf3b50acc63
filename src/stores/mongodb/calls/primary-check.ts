import type { Attempt, RunAttempt } from './attempts.js';
import { AttemptTimedOut } from './failures.js';
import { readTryMs, type MongoDbLimits } from './limits.js';

/** Resolves while the primary was confirmed recently; otherwise confirms it first. @throws the errors of an attempt */
export type HoldPrimary = () => Promise<void>;

/** A read at this age of the last confirmation starts the next one beside itself. */
const renewMs = 1_000;
/** A read at this age waits for the next one: the bound of src/stores/mongodb/README.md#reads-that-authorise. */
const staleMs = 3_000;

/**
 * Makes the check that the server which answers is still the primary. A primary that is cut off from its replica set
 * answers for up to 10 s more, without the writes that its successor acknowledges meanwhile.
 *
 * A linearizable read succeeds when a majority has confirmed the primary. It costs a round of the replica set, so one
 * stands for all reads of the next 3 s. A process without requests sends none.
 * @param deps.nowMs a monotonic time
 */
export function makePrimaryCheck(deps: {
  readonly attempt: RunAttempt;
  readonly confirm: (attempt: Attempt) => Promise<void>;
  readonly limits: MongoDbLimits;
  readonly nowMs: () => number;
}): HoldPrimary {
  const { attempt, confirm, limits, nowMs } = deps;
  let confirmedAtMs = -Infinity;
  let renewal: Promise<void> | undefined;

  return async () => {
    const ageMs = nowMs() - confirmedAtMs;
    if (ageMs <= renewMs) return;
    renewal ??= renew();
    if (ageMs <= staleMs) return;
    await renewal;
    // The process may have stood still meanwhile.
    if (nowMs() - confirmedAtMs > staleMs) throw new AttemptTimedOut('the primary was not confirmed in time');
  };

  function renew(): Promise<void> {
    // The confirmation is as old as its start: what was acknowledged later, it may not have seen.
    const startedMs = nowMs();
    const ms = readTryMs(limits);
    const renewing = attempt(confirm, { ms, deadlineMs: performance.now() + limits.readMs, urgent: true })
      .then(() => {
        confirmedAtMs = startedMs;
      })
      .finally(() => {
        renewal = undefined;
      });
    // A read within the bound does not await it. The next read that needs it sees the failure.
    renewing.catch(() => undefined);
    return renewing;
  }
}
