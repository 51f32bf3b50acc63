import {
  type EventReference,
  eventReferenceSchema,
  readReferenced,
  referenceTo,
} from '../feeding/quarantine.js';
import type { DomainEvent } from '../ports/domain-event.js';
import type { EventStore } from '../ports/event-store.js';
import type { StateStore } from '../ports/state-store.js';
import { changeRecord } from '../ports/change-record.js';
import { type AnyReaction, eventFor, type ReactionEvent } from './reaction.js';

/** An event is due within this time: it waits in memory. One that is due later gets a timer. In ms. */
export const timerAfterMs = 60_000;

/** A record `timer/<reaction>/<RFC 3339 time when it is due>/<event id>`. Its value is the reference to the event. */
export interface ReactionTimer {
  readonly key: string;
  readonly version: string;
  readonly dueAt: Date;
  readonly eventId: string;
  readonly event: EventReference;
}

/**
 * Events of a reaction that wait for a time, as records of the state store. They do not hold the checkpoint of the reaction,
 * so a restart does not read the log since the oldest of them again, and any number of them waits.
 */
export type ReactionTimers = ReturnType<typeof makeReactionTimers>;

export function makeReactionTimers(
  { stateStore, eventStore }: { readonly stateStore: StateStore; readonly eventStore: EventStore },
  reaction: AnyReaction,
) {
  const prefix = `timer/${reaction.name}/`;
  return {
    /** Sets a timer. Setting it again is harmless. @throws StoreUnavailable, OutcomeUnknown */
    set: async (event: ReactionEvent<DomainEvent>, dueAt: Date): Promise<void> => {
      const write = referenceTo(event);
      await changeRecord(
        stateStore,
        { key: `${prefix}${dueAt.toISOString()}/${event.id}`, schema: eventReferenceSchema },
        () => ({ write, result: null }),
        // A record that exists is the same timer.
        { tries: 1, first: null },
      );
    },
    /** Returns the first timers, in the order in which they are due. @throws StoreUnavailable */
    first: async (limit: number): Promise<readonly ReactionTimer[]> => {
      const records = await stateStore.list(prefix, { limit });
      return records.map(({ key, value, version }) => {
        const [due = '', eventId = ''] = key.slice(prefix.length).split('/');
        return { key, version, dueAt: new Date(due), eventId, event: eventReferenceSchema.parse(value) };
      });
    },
    /**
     * Reads the event of a timer; null where the log does not hold it, as after a restore.
     * @throws StoreUnavailable, StreamDamaged, UndecodableEvent
     */
    eventOf: async ({ eventId, event }: ReactionTimer) => {
      const stored = await readReferenced(eventStore, eventId, event);
      return stored === null ? null : eventFor(reaction, stored);
    },
    /** Removes a timer. @throws StoreUnavailable, OutcomeUnknown */
    remove: async ({ key, version }: ReactionTimer): Promise<void> => {
      await stateStore.compareAndSet(key, version, null);
    },
  };
}
