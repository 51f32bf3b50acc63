import type { Semaphore } from '../../kit/semaphore.js';
import {
  type Quarantine,
  type QuarantineNote,
  readReferenced,
  quarantinedItems,
} from '../feeding/quarantine.js';
import { backoff, type Clock, type Random } from '../../kit/time/clock.js';
import type { DomainEvent, LogEvent, Position, StoredEvent } from '../ports/domain-event.js';
import { StoreUnavailable } from '../ports/errors.js';
import type { EventStore } from '../ports/event-store.js';
import { type AnyReaction, eventFor, type ReactionEvent } from './reaction.js';
import type { Served } from './reaction-turn.js';
import type { ReadModelStore } from '../ports/read-model-store.js';

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

/** An event that a reaction has quarantined. */
interface QuarantinedEvent {
  readonly id: string;
  readonly stream: string;
  readonly revision: string;
  readonly reason: string;
}

/**
 * Returns the events that reactions of any release have quarantined, by reaction. A reaction without such events is absent.
 * @throws StoreUnavailable
 */
export async function quarantinedEvents(
  readModelStore: Pick<ReadModelStore, 'scan'>,
): Promise<ReadonlyMap<string, readonly QuarantinedEvent[]>> {
  const events = new Map<string, QuarantinedEvent[]>();
  // The owner of a record is the checkpoint of its reaction, `reaction/<name>`.
  for (const { id: named, event, reason } of await quarantinedItems(readModelStore, 'reaction')) {
    const [reaction = '', id = ''] = named.split('/');
    const { stream = '', revision = '' } = event ?? {};
    events.set(reaction, [...(events.get(reaction) ?? []), { id, stream, revision, reason }]);
  }
  return events;
}

/** An event that the reaction has taken. */
interface Taken {
  readonly recordedAt: Date;
}

/** A position that the reaction has passed, and our last event up to it. */
interface Passed {
  readonly position: Position;
  readonly lastEvent: Pick<StoredEvent, 'stream' | 'revision' | 'id' | 'recordedAt'>;
}

/** Makes the progress of a reaction. Its checkpoint stands before the first open event. */
export function makeTakenEvents(start: Position | null) {
  /** A settled event is null: thousands of them may wait for the first open one. */
  const entries: { readonly before: Before; event: Taken | null }[] = [];
  let taken: Before = { position: start, lastEvent: null };
  let open = 0;
  return {
    /** Returns the checkpoint: all events up to it are settled. Null at the start of the log. */
    position: () => first().position,
    /** Returns our last event up to the checkpoint; null while the checkpoint has not moved. */
    lastEvent: () => first().lastEvent,
    /** Returns the position up to which the reaction has read the log. */
    taken: () => taken.position,
    /** Returns the count of events taken after the checkpoint, open and settled. */
    ahead: () => entries.length,
    /** Returns the count of open events. */
    open: () => open,
    /** Returns the first open event; null when none is open. */
    oldest: () => entries[0]?.event ?? null,
    /** Opens an event, the next in the log. */
    take: (passed: Passed, event: Taken): void => {
      entries.push({ before: taken, event });
      const { stream, revision, id, recordedAt } = passed.lastEvent;
      taken = { position: passed.position, lastEvent: { stream, revision, id, recordedAt } };
      open += 1;
    },
    /** Passes an event without an outcome; a position alone passes foreign streams. */
    pass: ({ position, lastEvent = taken.lastEvent }: Pick<Passed, 'position'> & Partial<Before>): void => {
      taken = { position, lastEvent };
    },
    settle: (event: Taken): void => {
      const entry = entries.find((candidate) => candidate.event === event);
      if (entry === undefined) return;
      entry.event = null;
      open -= 1;
      while (entries[0]?.event === null) entries.shift();
    },
  };

  function first(): Before {
    return entries[0]?.before ?? taken;
  }
}

interface Before {
  readonly position: Position | null;
  readonly lastEvent: Passed['lastEvent'] | null;
}
