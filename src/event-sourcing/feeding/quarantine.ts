import { z } from 'zod';
import { StreamDamaged, UndecodableEvent } from '../ports/errors.js';
import type { ReadModelStore } from '../ports/read-model-store.js';
import { type NamedRecord, dropRecord, listRecords, putRecord, removeRecord } from '../ports/records.js';
import type { LogEvent } from '../ports/domain-event.js';
import type { EventStore } from '../ports/event-store.js';

/** Storage format of a reference to an event. The id of the event is in the name of the record that holds it. */
export const eventReferenceSchema = z.object({
  stream: z.string(),
  revision: z.string().regex(/^\d+$/),
  position: z.string(),
});

export type EventReference = z.infer<typeof eventReferenceSchema>;

export function referenceTo({
  stream,
  revision,
  position,
}: Pick<LogEvent, 'stream' | 'revision' | 'position'>): EventReference {
  return { stream, revision: String(revision), position };
}

/**
 * Reads an event by its reference. Returns null where the log does not hold it, as after a restore.
 * @throws StoreUnavailable, StreamDamaged
 */
export async function readReferenced(
  eventStore: Pick<EventStore, 'read'>,
  id: string,
  { stream, revision, position }: EventReference,
): Promise<LogEvent | null> {
  const [stored] = await eventStore.read(stream, { from: BigInt(revision), limit: 1 });
  return stored?.id === id ? { ...stored, position } : null;
}

/** Storage format of `set-apart/<owner>/<id>`. A newer release may add fields, as to every record of processes. */
const recordSchema = z.object({ reason: z.string(), event: eventReferenceSchema.optional() });

/** A stream that a view, or an event that a reaction cannot take in, because an event cannot be read. */
export interface Quarantined {
  /** Of a view the id of the document, which is the stream's name without its category. Of a reaction the id of the event. */
  readonly id: string;
  readonly reason: string;
  /** The event that a reaction has quarantined; left out by views. */
  readonly event?: EventReference | undefined;
}

export interface QuarantineNote extends Quarantined {
  readonly version: bigint;
}

/** What one view or reaction has quarantined: src/event-sourcing/feeding/README.md#undecodable-events. */
export type Quarantine = ReturnType<typeof makeQuarantine>;

/**
 * @param options.owner the collection of the view, or the checkpoint of the reaction
 * @param options.itemsMax more items than these are no exception: the owner stops instead
 */
export function makeQuarantine(
  readModelStore: Pick<ReadModelStore, 'get' | 'scan' | 'write'>,
  options: {
    readonly owner: string;
    readonly itemsMax: number;
    readonly onQuarantined: (item: Quarantined) => void;
  },
) {
  const { owner, itemsMax, onQuarantined } = options;
  const known = new Set<string>();
  return {
    /**
     * Reads the records. The caller loads its checkpoint before: another process saves a record before its checkpoint passes
     * the event, so the caller finds the record or meets the event again.
     */
    load: async (): Promise<readonly QuarantineNote[]> => {
      const records = await listRecords(readModelStore, prefixOf(owner));
      known.clear();
      const loaded = records.map((record) => ({ ...parse(owner, record), version: record.version }));
      for (const { id } of loaded) known.add(id);
      return loaded;
    },
    /**
     * Does the work on an item. Quarantines the item when an event cannot be read, before any checkpoint passes it.
     * @returns the result; null when the item is quarantined
     * @throws every other error, and the error of an item too many
     */
    attempt,
    /**
     * Attempts a recorded item again: a newer release may read the events, or an operator has restored the stream.
     * @param work returns whether the item is taken in, so that its record is removed
     */
    takeBack: async ({ id, event, version }: QuarantineNote, work: () => Promise<boolean>) => {
      if ((await attempt(id, work, event)) !== true) return;
      await removeRecord(readModelStore, prefixOf(owner) + id, version);
      known.delete(id);
    },
    count: () => known.size,
  };

  async function attempt<Result>(
    id: string,
    work: () => Result | Promise<Result>,
    event?: EventReference,
  ): Promise<Result | null> {
    try {
      return await work();
    } catch (error) {
      if (!isUnreadable(error) || (!known.has(id) && known.size >= itemsMax)) throw error;
      const value = { reason: error.message, ...(event === undefined ? {} : { event }) };
      // Also for a known item: another process may have taken it back meanwhile, and removed the record.
      await putRecord(readModelStore, prefixOf(owner) + id, value, null);
      if (!known.has(id)) onQuarantined({ id, ...value });
      known.add(id);
      return null;
    }
  }
}

/** Returns what an owner has quarantined, in order of the ids. */
export async function quarantinedItems(
  readModelStore: Pick<ReadModelStore, 'scan'>,
  owner: string,
): Promise<readonly Quarantined[]> {
  const records = await listRecords(readModelStore, prefixOf(owner));
  return records.map((record) => parse(owner, record));
}

/** Removes the records of an owner. Idempotent. */
export async function removeQuarantine(
  readModelStore: Pick<ReadModelStore, 'get' | 'scan' | 'write'>,
  owner: string,
): Promise<void> {
  for (const { name } of await listRecords(readModelStore, prefixOf(owner))) {
    await dropRecord(readModelStore, name);
  }
}

function prefixOf(owner: string): string {
  return `set-apart/${owner}/`;
}

function parse(owner: string, { name, value }: NamedRecord): Quarantined {
  return { id: name.slice(prefixOf(owner).length), ...recordSchema.parse(value) };
}

function isUnreadable(error: unknown): error is Error {
  return error instanceof UndecodableEvent || error instanceof StreamDamaged;
}
