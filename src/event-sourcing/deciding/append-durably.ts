import type { RequestProgress } from '../ports/command-context.js';
import type { Clock, Random } from '../../kit/time/clock.js';
import type { NewEvent, Position } from '../ports/domain-event.js';
import { OutcomeUnknown, StoreUnavailable, WrongExpectedRevision } from '../ports/errors.js';
import type { AppendOptions, Appended, EventStore, ExpectedRevision } from '../ports/event-store.js';

/** Attempts at a call while the store is unavailable. Their pauses add up to 1.1 to 1.9 s. */
const attemptsMax = 5;

/**
 * Returns the pause in milliseconds before the next attempt: 100, 200, 400, 800, each with a quarter of jitter. Full
 * jitter could spend all attempts within a blip of 0.3 s, and then the command would fail.
 */
function pauseBefore(attempt: number, random: Random): number {
  return 100 * 2 ** (attempt - 1) * (0.75 + random() / 2);
}

/** A read that takes long is not repeated after this time: the caller of the command does not wait so long. */
const readsMs = 2_000;

/** Reads, and reads again while the store is unavailable (src/event-sourcing/deciding/README.md#command-queue-and-retries). @throws as the read */
export async function retryRead<Result>(
  read: () => Promise<Result>,
  { clock, random }: { readonly clock: Clock; readonly random: Random },
): Promise<Result> {
  const startedMs = clock.steadyMs();
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      const isOver = attempt >= attemptsMax || clock.steadyMs() - startedMs >= readsMs;
      if (isOver || !(error instanceof StoreUnavailable)) throw error;
    }
    await clock.sleep(pauseBefore(attempt, random));
  }
}

export interface AppendLimits {
  readonly tries: number;
  /** No further attempt begins after this many milliseconds. */
  readonly totalMs: number;
}

/** src/event-sourcing/deciding/README.md#command-queue-and-retries. The store ends each attempt after 5 s. */
export const defaultAppendLimits: AppendLimits = { tries: attemptsMax, totalMs: 10_000 };
/** An embedded log ends an attempt after 4.5 s. A second one would wait in the same queue, and a write on a frozen disk longer than 5 s. */
export const embeddedAppendLimits: AppendLimits = { tries: attemptsMax, totalMs: 4_000 };

interface DurableOptions extends Pick<AppendOptions, 'further'> {
  readonly limits?: AppendLimits;
  /** Learns what may be written. After its request was answered, no attempt begins. */
  readonly request?: RequestProgress | undefined;
}

/** No request waits for the append. */
const noRequest: RequestProgress = {
  isOver: () => false,
  appending: () => undefined,
  wroteNothing: () => undefined,
};

/**
 * Appends. Repeats the append with the same ids and revision while the outcome is unknown or the store is unavailable
 * (src/event-sourcing/deciding/README.md#unknown-outcomes).
 * @returns revision and position of the last event. The position is null where only the stream shows that the events are written.
 * @throws WrongExpectedRevision when other events are there; OutcomeUnknown, StoreUnavailable after the last attempt
 */
export async function appendDurably(
  deps: { readonly eventStore: EventStore; readonly clock: Clock; readonly random: Random },
  target: { readonly stream: string; readonly expected: ExpectedRevision },
  events: readonly NewEvent[],
  { limits = defaultAppendLimits, request = noRequest, further }: DurableOptions = {},
): Promise<{ readonly revision: bigint; readonly position: Position | null }> {
  const { eventStore, clock, random } = deps;
  const { stream, expected } = target;
  const from = expected === 'no-stream' ? 0n : expected + 1n;
  const revision = from + BigInt(events.length - 1);
  const startedMs = clock.steadyMs();
  let unknown: OutcomeUnknown | undefined;
  request.appending();
  try {
    for (let attempt = 1; ; attempt += 1) {
      const tried = await tryOnce();
      if (!(tried instanceof StoreUnavailable)) return { revision, position: tried };
      const spentMs = clock.steadyMs() - startedMs;
      if (attempt >= limits.tries || spentMs >= limits.totalMs || request.isOver()) throw tried;
      await clock.sleep(pauseBefore(attempt, random));
    }
  } catch (error) {
    // After an unknown outcome only the stream itself shows that nothing was written.
    if (unknown === undefined) request.wroteNothing();
    throw error;
  }

  /** Returns the position of the last event, or a failure that permits a retry. Throws other failures. */
  async function tryOnce(): Promise<StoreUnavailable | Position | null> {
    try {
      // EventStoreDB drops a repetition of events that it is still writing, and answers only after 2 s.
      if (unknown !== undefined && (await isWritten())) return null;
      if (request.isOver()) return unknown ?? new StoreUnavailable('the request has been answered');
      return positionOf(await eventStore.append(stream, expected, events, { further }));
    } catch (error) {
      if (error instanceof OutcomeUnknown) unknown = error;
      else if (error instanceof StoreUnavailable) return unknown ?? error;
      if (unknown !== undefined && isOpen(error)) return settle(unknown, error);
      throw error;
    }
  }

  /** Settles an unknown outcome, or a conflict after one, by what the stream contains. */
  async function settle(outcome: OutcomeUnknown, error: Error): Promise<OutcomeUnknown | null> {
    try {
      if (await isWritten()) return null;
    } catch (readError) {
      if (readError instanceof StoreUnavailable) return outcome;
      throw readError;
    }
    // A read that finds nothing settles nothing: the store may still write the events. A conflict says that it will not.
    if (error instanceof WrongExpectedRevision) throw error;
    return outcome;
  }

  async function isWritten(): Promise<boolean> {
    const found = await eventStore.read(stream, { from, limit: events.length });
    return found.length === events.length && found.every((event, index) => event.id === events[index]?.id);
  }
}

function positionOf(appended: Appended | null): Position | null {
  return appended?.position ?? null;
}

function isOpen(error: unknown): error is OutcomeUnknown | WrongExpectedRevision {
  return error instanceof OutcomeUnknown || error instanceof WrongExpectedRevision;
}
