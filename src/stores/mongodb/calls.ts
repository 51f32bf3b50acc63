import { backoff, type Clock, type Random } from '../../event-sourcing/clock.js';
import { OutcomeUnknown, StoreDamaged, StoreUnavailable } from '../../event-sourcing/errors.js';
import { AttemptTimedOut, classify, type Failure } from './failures.js';
import { connectionWaitMs, readTryMs, writeTryMs, type MongoDbLimits } from './limits.js';

/** The end of a call, when there is one. */
export interface Settled<T> {
  readonly settled: T;
}

/** A write that can be sent again, and whose outcome can be looked up. */
export interface GuardedWrite<T> {
  /** Names the call in errors, without personal data. */
  readonly what: string;
  /** Sends what is not settled yet. `'look'`: the server's answer does not settle everything. */
  readonly send: (signal: AbortSignal) => Promise<Settled<T> | 'look'>;
  /**
   * Reads back, after an answer that did not settle it or none at all (then `uncertain`).
   * `'send'`: it has not happened yet. `'unknowable'`: it has been overtaken, and no trace tells.
   */
  readonly look: (signal: AbortSignal, uncertain: boolean) => Promise<Settled<T> | 'send' | 'unknowable'>;
}

/** Runs calls against the server so that each ends in its time, with an answer or an error of ours. */
export interface Calls {
  /** Repeats a read until it answers. @throws StoreUnavailable */
  readonly read: <T>(what: string, run: (signal: AbortSignal) => Promise<T>) => Promise<T>;
  /** Sends and looks in turn until the outcome is known. @throws StoreUnavailable, OutcomeUnknown */
  readonly write: <T>(write: GuardedWrite<T>) => Promise<T>;
  /** Repeats a write that may be repeated without harm until it is acknowledged. @throws StoreUnavailable, OutcomeUnknown */
  readonly repeatable: <T>(what: string, run: (signal: AbortSignal) => Promise<T>) => Promise<T>;
}

const pause = { first: 10, cap: 250 };

export function makeCalls({
  clock,
  random,
  limits,
}: {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: MongoDbLimits;
}): Calls {
  async function wait(round: number, deadline: AbortSignal): Promise<void> {
    try {
      await clock.sleep(backoff(round, random, pause), deadline);
    } catch (error) {
      if (!deadline.aborted) throw error;
    }
  }

  async function read<T>(what: string, run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    return withDeadline(limits.readMs, async (deadline) => {
      let reason: string | undefined;
      for (let round = 0; !deadline.aborted; round += 1) {
        try {
          return await attempt(readTryMs(limits), run, deadline);
        } catch (error) {
          const failure = failureOf(error);
          if (isFinal(failure)) throw unsettled(what, failure.reason, false);
          reason = tellingReason(reason, failure, deadline);
        }
        await wait(round, deadline);
      }
      throw unsettled(what, `${reason ?? 'no attempt'}; gave up within ${limits.readMs} ms`, false);
    });
  }

  async function write<T>({ what, send, look }: GuardedWrite<T>): Promise<T> {
    const tryMs = writeTryMs(limits);
    const startedMs = performance.now();
    // A send that could not even get a connection in the time left would end without saying so.
    const roomToSend = () => performance.now() - startedMs <= limits.writeMs - connectionWaitMs(limits);

    return withDeadline(limits.writeMs, async (deadline) => {
      let progress: Progress = { looking: false, uncertain: false, reason: undefined };
      for (let round = 0; !deadline.aborted && (progress.looking || roomToSend()); round += 1) {
        try {
          const answer: Settled<T> | 'look' | 'send' | 'unknowable' = progress.looking
            ? await attempt(tryMs, async (signal) => look(signal, progress.uncertain), deadline)
            : await attempt(tryMs, send, deadline);
          if (typeof answer === 'object') return answer.settled;
          if (answer === 'unknowable') throw unsettled(what, 'overtaken before its outcome was known', true);
          progress =
            answer === 'look'
              ? { ...progress, looking: true, reason: 'other writers came first' }
              : { ...progress, looking: false };
          // A lost race is looked at and sent again at once; one that is lost again and again gives way.
          if (round < 2) continue;
        } catch (error) {
          progress = afterFailure(progress, { what, error, deadline });
        }
        await wait(round, deadline);
      }
      throw unsettled(
        what,
        `${progress.reason ?? 'no attempt'}; gave up within ${limits.writeMs} ms`,
        progress.uncertain,
      );
    });
  }

  return {
    read,
    write,
    repeatable: async (what, run) =>
      write({
        what,
        send: async (signal) => ({ settled: await run(signal) }),
        look: async () => Promise.resolve('send'),
      }),
  };
}

/** What is known of a write on its way. */
interface Progress {
  /** Whether the outcome of what was sent is to be read back next. */
  readonly looking: boolean;
  /** Whether something was sent whose outcome no answer told. */
  readonly uncertain: boolean;
  readonly reason: string | undefined;
}

/** @throws what ends the call */
function afterFailure(
  { looking, uncertain, reason }: Progress,
  {
    what,
    error,
    deadline,
  }: { readonly what: string; readonly error: unknown; readonly deadline: AbortSignal },
): Progress {
  const failure = failureOf(error);
  if (isFinal(failure)) throw unsettled(what, failure.reason, uncertain);
  const lost = !looking && failure.kind === 'unknown';
  return {
    looking: looking || lost,
    uncertain: uncertain || lost,
    reason: tellingReason(reason, failure, deadline),
  };
}

function unsettled(what: string, reason: string, uncertain: boolean): StoreUnavailable {
  const message = `MongoDB: ${what}: ${reason}`;
  return uncertain ? new OutcomeUnknown(message) : new StoreUnavailable(message);
}

/** Our own errors, and mistakes of ours, go through as they are. */
function failureOf(error: unknown): Failure {
  if (error instanceof StoreUnavailable || error instanceof StoreDamaged) throw error;
  const failure = classify(error);
  if (failure.kind === 'bug') throw error;
  return failure;
}

/** A try that was cut short by the end of the call's time says less than what went wrong before. */
function tellingReason(earlier: string | undefined, { reason }: Failure, deadline: AbortSignal): string {
  return deadline.aborted ? (earlier ?? reason) : reason;
}

function isFinal({ kind }: Failure): boolean {
  return kind === 'rejected' || kind === 'closed';
}

async function withDeadline<T>(ms: number, run: (deadline: AbortSignal) => Promise<T>): Promise<T> {
  const controller = new AbortController();
  const timer = setTimeout(() => {
    controller.abort();
  }, ms);
  try {
    return await run(controller.signal);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * One try. The signal makes the driver give up its connection; the race ends the try even where the driver does not
 * listen to the signal.
 */
export async function attempt<T>(
  ms: number,
  run: (signal: AbortSignal) => Promise<T>,
  deadline?: AbortSignal,
): Promise<T> {
  const controller = new AbortController();
  const { signal } = controller;
  const timedOut = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => {
      reject(new AttemptTimedOut('no answer in time'));
    });
  });
  const giveUp = () => {
    controller.abort(new AttemptTimedOut('no answer in time'));
  };
  const timer = setTimeout(giveUp, ms);
  deadline?.addEventListener('abort', giveUp);
  try {
    return await Promise.race([run(signal), timedOut]);
  } finally {
    clearTimeout(timer);
    deadline?.removeEventListener('abort', giveUp);
  }
}
