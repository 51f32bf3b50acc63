import { isDeepStrictEqual } from 'node:util';
import type { Clock } from './clock.js';
import type { EventStore } from './event-store.js';
import type { GenerationRecord, Generations } from './generations.js';
import { type AnyProjection, collectionName } from './projection.js';
import type { ReadModelStore, StoredDocument } from './read-model-store.js';

/** Every process must have heard of a new generation, and feed it, before readers are switched to it. */
const switchAfterMs = 5_000;
/** Every process must have heard of the switch before the old generation goes: they re-read each second and refuse after 3. */
const dropAfterMs = 10_000;
const differentIdsMax = 100;
const pageSize = 200;

/**
 * Announces a new generation of a view; all processes feed it from then on, and switch when it has caught up.
 * @returns its number, or null when one is being built or dropped already
 */
export async function requestRebuild(
  generations: Generations,
  projection: AnyProjection,
  now: Date,
): Promise<number | null> {
  let generation = 0;
  const announced = await generations.change(projection, (record) => {
    if (record.building !== null || record.retiring !== null) return null;
    generation = record.live + 1;
    return { ...record, building: { generation, announced_at: now.toISOString() } };
  });
  return announced ? generation : null;
}

/** Drops what a crash left of earlier rebuilds: generations before the live one that nobody feeds any more. */
export async function dropOrphanedGenerations(
  generations: Generations,
  readModelStore: ReadModelStore,
): Promise<void> {
  const collections = await readModelStore.collections();
  for (const projection of generations.projections) {
    const fed = generations.fedCollections(projection);
    const { live } = generations.record(projection);
    for (let generation = 1; generation < live; generation += 1) {
      const collection = collectionName(projection, generation);
      if (collections.includes(collection) && !fed.includes(collection)) {
        await readModelStore.dropCollection(collection);
      }
    }
  }
}

/** Carries on whatever rebuild the registry names; called each second in every process, so that a crash stops none. */
export async function superviseRebuild(
  deps: {
    readonly generations: Generations;
    readonly eventStore: EventStore;
    readonly readModelStore: ReadModelStore;
    readonly clock: Clock;
    readonly statuses: readonly {
      readonly collection: string;
      readonly state: string;
      readonly atHead: boolean;
    }[];
  },
  onRebuilt: (collection: string, differences: { compared: number; different: number }) => void,
): Promise<void> {
  const { generations, readModelStore, clock, statuses } = deps;
  for (const projection of generations.projections) {
    const { building, retiring } = generations.record(projection);
    if (building !== null && ageMs(building.announced_at) >= switchAfterMs) {
      await switchWhenCaughtUp(projection, building.generation);
    }
    if (retiring !== null && ageMs(retiring.since) >= dropAfterMs) {
      const declared = await generations.change(projection, (record) =>
        record.retiring?.generation === retiring.generation ? { ...record, retiring: null } : null,
      );
      if (declared) await readModelStore.dropCollection(collectionName(projection, retiring.generation));
    }
  }

  function ageMs(time: string): number {
    return clock.now().getTime() - Date.parse(time);
  }

  async function switchWhenCaughtUp(projection: AnyProjection, generation: number): Promise<void> {
    const collection = collectionName(projection, generation);
    const status = statuses.find((candidate) => candidate.collection === collection);
    if (status?.state !== 'live' || !status.atHead) return;
    const differences = await compareCollections(
      readModelStore,
      generations.liveCollection(projection),
      collection,
    );
    const now = clock.now().toISOString();
    const switched = await generations.change(projection, (record) =>
      switchTo(record, generation, now, differences),
    );
    if (switched) onRebuilt(collection, differences);
  }
}

function switchTo(
  record: GenerationRecord,
  generation: number,
  now: string,
  differences: Differences,
): GenerationRecord | null {
  if (record.building?.generation !== generation) return null;
  return {
    live: generation,
    building: null,
    retiring: { generation: record.live, since: now },
    last_rebuild: {
      switched_at: now,
      compared: differences.compared,
      different: differences.different,
      different_ids: [...differences.differentIds],
    },
  };
}

export interface Differences {
  /** Documents that stood at the same revision in both. */
  readonly compared: number;
  readonly different: number;
  /** The first 100 ids of those that differed. */
  readonly differentIds: readonly string[];
}

/** Compares two generations document by document, where both are at the same revision: elsewhere one is merely ahead. */
export async function compareCollections(
  readModelStore: ReadModelStore,
  left: string,
  right: string,
): Promise<Differences> {
  let compared = 0;
  let different = 0;
  const differentIds: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await readModelStore.scan(left, {
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
    });
    const others = new Map<string, StoredDocument>();
    const ids = page.map((document) => document.id);
    for (const other of await readModelStore.getMany(right, ids)) others.set(other.id, other);
    for (const document of page) {
      const other = others.get(document.id);
      if (other?.revision !== document.revision) continue;
      compared += 1;
      if (isDeepStrictEqual(other.body, document.body)) continue;
      different += 1;
      if (differentIds.length < differentIdsMax) differentIds.push(document.id);
    }
    after = page.at(-1)?.id;
    if (page.length < pageSize) return { compared, different, differentIds };
  }
}
