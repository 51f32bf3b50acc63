import { makeNewestFirst, makeSemaphore } from '../../../kit/semaphore.js';
import { AttemptTimedOut, NotSent } from './failures.js';
import type { ConnectionLimits } from '../connection-string.js';
import { type MongoDbLimits, readTryMs } from './limits.js';

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

/** One attempt of a call, as its commands see it. */
export interface Attempt {
  /** Aborts only where the server has been silent for so long that the connection counts as lost. It closes it. */
  readonly signal: AbortSignal;
  /** Whether the caller has given up. No further command may be sent, because the caller knows nothing of it. */
  readonly isOver: () => boolean;
}

interface AttemptOptions {
  /** The limit of the attempt, from the moment at which it gets its permit. */
  readonly ms: number;
  /** The end of the call, in the time of `performance.now()`. */
  readonly deadlineMs: number;
  /** Passes waiting attempts that are not urgent. */
  readonly urgent?: boolean;
}

/** Runs an attempt with one of the permits. @throws NotSent, AttemptTimedOut and the errors of the attempt */
export type RunAttempt = <T>(run: (attempt: Attempt) => Promise<T>, options: AttemptOptions) => Promise<T>;

/**
 * Makes the gate in front of the driver: as many permits as its pool has connections. A command that the driver cannot
 * send at once would wait in the pool, where the oldest goes first.
 *
 * An attempt that runs out of time ends for its caller only. Its command goes on and keeps its permit, because aborting it
 * would close the connection: under overload the pool would spend its time connecting. The server ends the command
 * itself (`maxTimeMS`); without a reply for `silenceMs` the connection is closed.
 */
export function makeAttempts({ poolSize, permitWaitMs, silenceMs }: ConnectionLimits): RunAttempt {
  const refused = () => new NotSent(`more calls than the ${poolSize} connections can serve`, 'refused');
  const gate = makeSemaphore(poolSize, makeNewestFirst({ waitMs: permitWaitMs, refused }));
  /** Controllers are used again, because making one for each command costs a fifth of the driver's time. */
  const controllers: AbortController[] = [];

  return async (run, { ms, deadlineMs, urgent = false }) =>
    new Promise((resolve, reject) => {
      let isOver = false;
      let hasPermit = false;
      const isWaiting = (): boolean => !hasPermit;
      const leftMs = (): number => Math.max(0, deadlineMs - performance.now());
      let timer: NodeJS.Timeout | undefined;
      const giveUp = (error: Error): void => {
        isOver = true;
        reject(error);
      };

      gate.run(begin, { urgent }).then(resolve, reject);
      if (isWaiting()) {
        timer = setTimeout(() => giveUp(new NotSent('no free connection in time')), leftMs());
      }

      async function begin() {
        hasPermit = true;
        clearTimeout(timer);
        // The promise is settled already, so the error reaches no caller. It only frees the permit.
        if (isOver) throw new NotSent('no free connection in time');
        const controller = controllers.pop() ?? new AbortController();
        const tryMs = Math.min(ms, leftMs());
        timer = setTimeout(() => {
          giveUp(new AttemptTimedOut('no answer in time', { isCut: tryMs < ms }));
          timer = setTimeout(
            () => controller.abort(new AttemptTimedOut('no answer in time')),
            Math.max(silenceMs - tryMs, 0),
          );
        }, tryMs);
        try {
          return await run({ signal: controller.signal, isOver: () => isOver });
        } finally {
          clearTimeout(timer);
          if (!controller.signal.aborted) controllers.push(controller);
        }
      }
    });
}
