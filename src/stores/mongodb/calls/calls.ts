import { backoff, type Clock, type Random } from '../../../kit/time/clock.js';
import { OutcomeUnknown, StoreDamaged, StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import type { Attempt, HoldPrimary, RunAttempt } from './attempts.js';
import { classify, NotSent, type CallFailure } from './failures.js';
import { connectionWaitMs, permitWaitMs, readTryMs, writeTryMs, type MongoDbLimits } from './limits.js';

export interface Settled<T> {
  readonly settled: T;
}

/** A write that can be repeated, and whose outcome can be read back. */
export interface GuardedWrite<T> {
  /** The name of the call in errors, without personal data. */
  readonly what: string;
  /** Sends the unsettled parts. `'look'`: the server's answer does not settle all of them. */
  readonly send: (attempt: Attempt) => Promise<Settled<T> | 'look'>;
  /** Reads back. `uncertain`: an attempt got no answer. `'send'`: not written. `'unknowable'`: later writes hide it. */
  readonly look: (attempt: Attempt, uncertain: boolean) => Promise<Settled<T> | 'send' | 'unknowable'>;
}

export interface ReadOptions {
  /** Gets a permit before the reads that are not urgent. */
  readonly urgent?: boolean;
  /** Accepts the answer of a primary that was not confirmed recently. */
  readonly unconfirmed?: boolean;
}

/** For reads that keep the process going. No request is authorised by them. */
export const upkeep: ReadOptions = { urgent: true, unconfirmed: true };

/** Runs calls against the server. Each ends within its time limit with an answer or an error of the ports. */
export interface Calls {
  /** Repeats a read until it answers. @throws StoreUnavailable */
  readonly read: <T>(
    what: string,
    run: (attempt: Attempt) => Promise<T>,
    options?: ReadOptions,
  ) => Promise<T>;
  /** Sends and reads back in turn until the outcome is known. @throws StoreUnavailable, OutcomeUnknown */
  readonly write: <T>(write: GuardedWrite<T>) => Promise<T>;
  /** Repeats an idempotent write until the server acknowledges it. @throws StoreUnavailable, OutcomeUnknown */
  readonly repeatable: <T>(what: string, run: (attempt: Attempt) => Promise<T>) => Promise<T>;
  /** As `repeatable`, with the limit of an index's creation: one attempt may take all of it. */
  readonly indexing: <T>(what: string, run: (attempt: Attempt) => Promise<T>) => Promise<T>;
}

const pause = { first: 10, cap: 250 };

export function makeCalls({
  clock,
  random,
  limits,
  attempt,
  holdPrimary,
}: {
  readonly clock: Clock;
  readonly random: Random;
  readonly limits: MongoDbLimits;
  readonly attempt: RunAttempt;
  readonly holdPrimary?: HoldPrimary;
}): Calls {
  const longestWaitMs = permitWaitMs(limits);

  async function wait(round: number, deadlineMs: number): Promise<void> {
    const leftMs = deadlineMs - performance.now();
    if (leftMs > 0) await clock.sleep(Math.min(backoff(round, random, pause), leftMs));
  }

  async function read<T>(
    what: string,
    run: (attempt: Attempt) => Promise<T>,
    { urgent = false, unconfirmed = false }: ReadOptions = {},
  ): Promise<T> {
    // The limit counts from the first permit: under overload the wait for it comes before.
    let deadlineMs = performance.now() + longestWaitMs + limits.readMs;
    let hasBegun = false;
    const begin = async (running: Attempt): Promise<T> => {
      if (!hasBegun) deadlineMs = performance.now() + limits.readMs;
      hasBegun = true;
      return run(running);
    };
    let reason: string | undefined;
    for (let round = 0; performance.now() < deadlineMs; round += 1) {
      try {
        if (!unconfirmed && holdPrimary !== undefined) {
          const startedMs = performance.now();
          await holdPrimary().catch((error: unknown) => {
            // A primary that does not confirm is no overload: the wait for it counts as time of the read.
            if (!hasBegun) deadlineMs = startedMs + limits.readMs;
            hasBegun = true;
            throw error;
          });
        }
        return await attempt(begin, { ms: readTryMs(limits), deadlineMs, urgent });
      } catch (error) {
        const failure = failureOf(error);
        if (isFinal(failure)) throw unsettled(what, failure.reason, false);
        reason = tellingReason(reason, failure);
      }
      await wait(round, deadlineMs);
    }
    throw unsettled(what, `${reason ?? 'no attempt'}; gave up within ${limits.readMs} ms`, false);
  }

  /** Writes are urgent: each ends work that has begun, and reads usually begin work. */
  async function writeWithin<T>(
    { what, send, look }: GuardedWrite<T>,
    { wholeMs, tryMs }: { readonly wholeMs: number; readonly tryMs: number },
  ): Promise<T> {
    const deadlineMs = performance.now() + wholeMs;
    // A later send could still wait for a connection at the deadline, and its outcome would be unknown. On a busy machine
    // the driver notices late that its wait is over.
    const hasRoomToSend = () => deadlineMs - performance.now() >= 2 * connectionWaitMs(limits);
    const options = { ms: tryMs, deadlineMs, urgent: true };

    let progress: Progress = { looking: false, uncertain: false, reason: undefined };
    for (let round = 0; performance.now() < deadlineMs && (progress.looking || hasRoomToSend()); round += 1) {
      try {
        const { looking, uncertain } = progress;
        const answer: Settled<T> | 'look' | 'send' | 'unknowable' = looking
          ? await attempt(async (running) => look(running, uncertain), options)
          : await attempt(async (running) => {
              if (!hasRoomToSend()) throw new NotSent('no free connection in time');
              return send(running);
            }, options);
        if (typeof answer === 'object') return answer.settled;
        if (answer === 'unknowable') throw unsettled(what, 'a later write hides its outcome', true);
        progress =
          answer === 'look'
            ? { ...progress, looking: true, reason: 'other writes came first' }
            : { ...progress, looking: false };
        // A write that lost a race reads back and sends again at once. After the third round it backs off.
        if (round < 2) continue;
      } catch (error) {
        progress = afterFailure(progress, { what, error });
      }
      await wait(round, deadlineMs);
    }
    throw unsettled(
      what,
      `${progress.reason ?? 'no attempt'}; gave up within ${wholeMs} ms`,
      progress.uncertain,
    );
  }

  const writing = { wholeMs: limits.writeMs, tryMs: writeTryMs(limits) };
  const indexing = { wholeMs: limits.indexMs, tryMs: limits.indexMs };

  return {
    read,
    write: async (guarded) => writeWithin(guarded, writing),
    repeatable: async (what, run) => writeWithin(repeated(what, run), writing),
    indexing: async (what, run) => writeWithin(repeated(what, run), indexing),
  };
}

/** Makes a guarded write of one that needs no guard: while its outcome is unknown, it is sent again. */
function repeated<T>(what: string, run: (attempt: Attempt) => Promise<T>): GuardedWrite<T> {
  return {
    what,
    send: async (attempt) => ({ settled: await run(attempt) }),
    look: async () => Promise.resolve('send'),
  };
}

interface Progress {
  /** Whether the next step reads the outcome back. */
  readonly looking: boolean;
  /** Whether an attempt was sent whose outcome no answer has settled. */
  readonly uncertain: boolean;
  readonly reason: string | undefined;
}

/** Returns the progress after a failed step. @throws the error that ends the call when the failure is final */
function afterFailure(
  { looking, uncertain, reason }: Progress,
  { what, error }: { readonly what: string; readonly error: unknown },
): Progress {
  const failure = failureOf(error);
  // A write without a verdict waits on for its outcome, however many calls wait.
  if (isFinal(failure) && !(failure.kind === 'refused' && uncertain))
    throw unsettled(what, failure.reason, uncertain);
  const lost = !looking && failure.kind === 'unknown';
  return {
    looking: looking || lost,
    uncertain: uncertain || lost,
    reason: tellingReason(reason, failure),
  };
}

function unsettled(what: string, reason: string, uncertain: boolean): StoreUnavailable {
  const message = `MongoDB: ${what}: ${reason}`;
  return uncertain ? new OutcomeUnknown(message) : new StoreUnavailable(message);
}

/** Classifies an error. Errors of the ports and bugs pass through as they are. */
function failureOf(error: unknown): CallFailure {
  if (error instanceof StoreUnavailable || error instanceof StoreDamaged) throw error;
  const failure = classify(error);
  if (failure.kind === 'bug') throw error;
  return failure;
}

/** Chooses the more useful reason: an attempt that the deadline cut short explains less than the failure before it. */
function tellingReason(earlier: string | undefined, { reason, isCut = false }: CallFailure): string {
  return isCut ? (earlier ?? reason) : reason;
}

function isFinal({ kind }: CallFailure): boolean {
  return kind === 'rejected' || kind === 'closed' || kind === 'refused';
}
