import { backoff, type Clock, type Random } from './clock.js';
import type { NewEvent } from './domain-event.js';
import { OutcomeUnknown, StoreUnavailable, WrongExpectedRevision } from './errors.js';
import type { EventStore, ExpectedRevision } from './event-store.js';

export interface AppendLimits {
  readonly tries: number;
  /** No further try begins after this many milliseconds. */
  readonly totalMs: number;
}

/** DESIGN section 5: 3 tries in 15 s; each try is cut off by the store after 5 s. */
export const defaultLimits: AppendLimits = { tries: 3, totalMs: 15_000 };

/**
 * Appends, and repeats with the same ids and revision while the outcome is unknown or the store is away.
 * @returns the revision of the last event
 * @throws WrongExpectedRevision when another event stands there; OutcomeUnknown or StoreUnavailable after the last try
 */
export async function appendDurably(
  deps: { readonly eventStore: EventStore; readonly clock: Clock; readonly random: Random },
  target: { readonly stream: string; readonly expected: ExpectedRevision },
  events: readonly NewEvent[],
  limits: AppendLimits = defaultLimits,
): Promise<bigint> {
  const { eventStore, clock, random } = deps;
  const { stream, expected } = target;
  const last = (expected === 'no-stream' ? -1n : expected) + BigInt(events.length);
  const startedMs = clock.now().getTime();
  let unknown: OutcomeUnknown | undefined;
  for (let attempt = 0; ; attempt += 1) {
    try {
      await eventStore.append(stream, expected, events);
      return last;
    } catch (error) {
      const failure = await resolve(error);
      if (failure === 'written') return last;
      const spentMs = clock.now().getTime() - startedMs;
      if (attempt + 1 >= limits.tries || spentMs >= limits.totalMs) throw unknown ?? failure;
      await clock.sleep(backoff(attempt, random, { first: 100, cap: 1_000 }));
    }
  }

  /** Tells a failure that may be tried again from one that is final (thrown), and finds what was written after all. */
  async function resolve(error: unknown): Promise<'written' | StoreUnavailable> {
    if (error instanceof WrongExpectedRevision && unknown !== undefined) {
      try {
        if (await wasWritten()) return 'written';
      } catch (readError) {
        if (readError instanceof StoreUnavailable) return unknown;
        throw readError;
      }
      throw error;
    }
    if (!(error instanceof StoreUnavailable)) throw error;
    if (error instanceof OutcomeUnknown) unknown = error;
    return error;
  }

  async function wasWritten(): Promise<boolean> {
    const from = expected === 'no-stream' ? 0n : expected + 1n;
    const found = await eventStore.read(stream, { from, limit: events.length });
    return found.length === events.length && found.every((event, index) => event.id === events[index]?.id);
  }
}
