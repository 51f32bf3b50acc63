import { isDeepStrictEqual } from 'node:util';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { GenerationRecord } from '../../../../src/event-sourcing/views/generations/generations.js';
import { type AnyProjection, collectionName } from '../../../../src/event-sourcing/views/projection.js';
import type {
  ReadModelStore,
  StoredDocument,
} from '../../../../src/event-sourcing/ports/read-model-store.js';
import { foldOf } from './expected-documents.js';
import {
  getRecord,
  loadCheckpoint,
  recordsCollection,
} from '../../../../src/event-sourcing/ports/records.js';
import { readerOf } from '../../../../test/support/clients/record-hooks.js';

export interface WatchedReadModels {
  readonly store: ReadModelStore;
  /** Returns the number of applied writes. */
  readonly applied: () => number;
}

/**
 * Returns a read-model store that checks the documents after every operation: each is the fold of its stream up to its
 * revision, no revision falls, and no checkpoint is ahead of the documents.
 * Throws at the first violation.
 */
export function watchReadModels(
  store: ReadModelStore,
  { log, projections }: { readonly log: EventStore; readonly projections: readonly AnyProjection[] },
  onBroken: (error: Error) => void,
): WatchedReadModels {
  let applied = 0;
  return {
    applied: () => applied,
    store: {
      ...store,
      write: async (collection, writes) => {
        if (collection === recordsCollection) {
          const saved = await store.write(collection, writes);
          for (const { document } of writes) {
            const reader = readerOf(document.id);
            // The marks of reactions have no documents.
            if (reader !== null && !reader.startsWith('reaction/')) await checkCheckpoint(reader);
          }
          return saved;
        }
        const before = await store.getMany(
          collection,
          writes.map(({ document }) => document.id),
        );
        const outcomes = await store.write(collection, writes);
        applied += outcomes.filter((outcome) => outcome === 'applied').length;
        for (const { document } of writes) {
          const after = await store.get(collection, document.id);
          const earlier = before.find(({ id }) => id === document.id);
          if (after !== null) await checkDocument(collection, after, earlier ?? null);
        }
        return outcomes;
      },
    },
  };

  async function checkDocument(
    collection: string,
    document: StoredDocument,
    earlier: StoredDocument | null,
  ): Promise<void> {
    const projection = projectionOf(collection);
    if (earlier !== null && earlier.revision > document.revision) {
      broken(
        `${document.id} in ${collection} fell from revision ${earlier.revision} to ${document.revision}`,
      );
    }
    const { events } = await log.readAll({ after: null, limit: 1_000_000 });
    const stream = `${projection.category}-${document.id}`;
    const folded = events.filter((event) => event.stream === stream && event.revision <= document.revision);
    if (!isDeepStrictEqual(foldOf(projection, folded), [document])) {
      broken(`${document.id} in ${collection} is not the fold of its stream up to ${document.revision}`);
    }
  }

  async function checkCheckpoint(collection: string): Promise<void> {
    const projection = projectionOf(collection);
    const checkpoint = await loadCheckpoint(store, collection);
    // A late checkpoint of a dropped generation does no harm, because its number is never used again.
    if (checkpoint === null || !(await isFed(collection, projection))) return;
    const { events } = await log.readAll({ after: null, limit: 1_000_000 });
    const passed = events.filter(({ position }) => position <= checkpoint.position);
    for (const expected of foldOf(projection, passed)) {
      const stored = await store.get(collection, expected.id);
      if (stored === null || stored.revision < expected.revision) {
        broken(`the checkpoint of ${collection} is ahead of ${expected.id}`);
      }
    }
  }

  async function isFed(collection: string, projection: AnyProjection): Promise<boolean> {
    const record = await getRecord(store, `generations/${projection.name}@${projection.version}`);
    if (record === null) return true;
    const { live, building, retiring } = record.value as unknown as GenerationRecord;
    return [live, building?.generation, retiring?.generation].some(
      (generation) => generation !== undefined && collectionName(projection, generation) === collection,
    );
  }

  function projectionOf(collection: string): AnyProjection {
    const found = projections.find((projection) =>
      collection.startsWith(collectionName(projection, 1).slice(0, -1)),
    );
    if (found === undefined) throw new Error(`${collection} is of no projection`);
    return found;
  }

  function broken(what: string): never {
    const error = new Error(what);
    onBroken(error);
    throw error;
  }
}
