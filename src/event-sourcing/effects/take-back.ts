import type { Semaphore } from '../../kit/semaphore.js';
import { type Quarantine, type QuarantineNote, readReferenced } from '../feeding/quarantine.js';
import { backoff, type Clock, type Random } from '../../kit/time/clock.js';
import type { DomainEvent, LogEvent } from '../ports/domain-event.js';
import { StoreUnavailable } from '../ports/errors.js';
import type { EventStore } from '../ports/event-store.js';
import { type AnyReaction, eventFor, type ReactionEvent } from './reaction.js';
import type { Served } from './reaction-turn.js';

const retry = { first: 250, cap: 10_000 };

/**
 * Serves an event that the reaction has quarantined, if it can be served now. A process that ends before keeps the record.
 * Retries while a store is unavailable. @throws every other error
 */
export async function takeBackEvent(
  deps: {
    readonly reaction: AnyReaction;
    readonly eventStore: Pick<EventStore, 'read'>;
    readonly quarantine: Pick<Quarantine, 'takeBack'>;
    /** Bounds the reads that run at once. */
    readonly semaphore: Pick<Semaphore, 'run'>;
    readonly serve: (event: ReactionEvent<DomainEvent>) => Promise<Served>;
    readonly random: Random;
    readonly sleepUntilRetry: Clock['sleep'];
    readonly signal: AbortSignal;
    readonly onRetry: (error: Error, failures: number) => void;
  },
  record: QuarantineNote,
): Promise<void> {
  const { reaction, eventStore, quarantine, signal } = deps;
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      await quarantine.takeBack(record, isSettled);
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      deps.onRetry(error, attempt);
      // An abort ends the loop.
      await deps.sleepUntilRetry(backoff(attempt, deps.random, retry), signal).catch(() => undefined);
    }
  }

  async function isSettled(): Promise<boolean> {
    const { id, event: reference } = record;
    if (reference === undefined) throw new TypeError(`the record of ${id} names no event`);
    const read = async (): Promise<LogEvent | null> => readReferenced(eventStore, id, reference);
    const stored = await deps.semaphore.run(async () => (signal.aborted ? 'ended' : read()));
    if (stored === 'ended') return false;
    const event = stored === null ? null : eventFor(reaction, stored);
    return event === null || (await deps.serve(event)) === 'settled';
  }
}
