import { z } from 'zod';
import { StreamDamaged, UndecodableEvent } from '../ports/errors.js';
import type { NamedRecord, ReadModelStore } from '../ports/read-model-store.js';

const recordSchema = z.strictObject({ reason: z.string() });

/** More streams than these are no exception: the view stops instead. */
const setApartMax = 100;

/** A stream whose document stays at its last revision, because an event cannot be read. */
export interface SetApartStream {
  /** The id of the document, which is the stream's name without its category. */
  readonly id: string;
  readonly reason: string;
}

export interface SetApart {
  /** Folds each stream again, as a newer release may read its events. Removes the records of those that fold. */
  takeBack(fold: (id: string) => Promise<unknown>): Promise<void>;
  /**
   * Folds events of one stream. Sets the stream apart when an event of it cannot be read, before any checkpoint passes it.
   * @returns the result; null when the stream is set apart
   * @throws every other error, and the error of a stream too many
   */
  fold<Result>(id: string, fold: () => Result | Promise<Result>): Promise<Result | null>;
  readonly count: () => number;
}

/** Makes the record of the streams that a collection cannot take in: docs/design.md#undecodable-events. */
export function makeSetApart(
  readModelStore: Pick<ReadModelStore, 'listRecords' | 'putRecord' | 'removeRecord'>,
  collection: string,
  onSetApart: (stream: SetApartStream) => void,
): SetApart {
  const known = new Set<string>();

  return {
    takeBack: async (fold) => {
      known.clear();
      for (const record of await readModelStore.listRecords(prefixOf(collection))) {
        const { id } = parse(collection, record);
        known.add(id);
        try {
          await fold(id);
        } catch (error) {
          if (isOfOneStream(error)) continue;
          throw error;
        }
        await readModelStore.removeRecord(record.name, record.version);
        known.delete(id);
      }
    },
    fold: async (id, fold) => {
      try {
        return await fold();
      } catch (error) {
        if (!isOfOneStream(error) || (!known.has(id) && known.size >= setApartMax)) throw error;
        // Also for a known stream: another process may have taken it back meanwhile, and removed the record.
        await readModelStore.putRecord(prefixOf(collection) + id, { reason: error.message }, null);
        if (!known.has(id)) onSetApart({ id, reason: error.message });
        known.add(id);
        return null;
      }
    },
    count: () => known.size,
  };
}

/** Returns the streams that a collection has set apart. */
export async function setApartStreams(
  readModelStore: Pick<ReadModelStore, 'listRecords'>,
  collection: string,
): Promise<readonly SetApartStream[]> {
  const records = await readModelStore.listRecords(prefixOf(collection));
  return records.map((record) => parse(collection, record));
}

/** Drops a collection and the records of the streams that it has set apart. Idempotent. */
export async function dropGeneration(
  readModelStore: Pick<ReadModelStore, 'dropCollection' | 'listRecords' | 'removeRecord'>,
  collection: string,
): Promise<void> {
  await readModelStore.dropCollection(collection);
  for (const { name, version } of await readModelStore.listRecords(prefixOf(collection))) {
    await readModelStore.removeRecord(name, version);
  }
}

function prefixOf(collection: string): string {
  return `set-apart/${collection}/`;
}

function parse(collection: string, { name, value }: NamedRecord): SetApartStream {
  return { id: name.slice(prefixOf(collection).length), ...recordSchema.parse(value) };
}

function isOfOneStream(error: unknown): error is Error {
  return error instanceof UndecodableEvent || error instanceof StreamDamaged;
}
