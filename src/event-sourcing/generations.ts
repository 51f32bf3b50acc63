import { z } from 'zod';
import type { Clock } from './clock.js';
import { StoreUnavailable } from './errors.js';
import { type AnyProjection, collectionName } from './projection.js';
import type { ReadModelStore } from './read-model-store.js';
import { makeViewVersions } from './view-versions.js';

const recordSchema = z.strictObject({
  /** The generation that readers use. */
  live: z.int().positive(),
  /** The one that is being built beside it; fed and written through like the live one. */
  building: z.strictObject({ generation: z.int().positive(), announced_at: z.iso.datetime() }).nullable(),
  /** The one that was live before; still fed, for processes that have not heard of the switch. */
  retiring: z.strictObject({ generation: z.int().positive(), since: z.iso.datetime() }).nullable(),
  /** The one that is no longer fed, and dropped once every process has heard so. */
  dropping: z.strictObject({ generation: z.int().positive(), since: z.iso.datetime() }).nullable(),
  /** What the last switch found: documents at equal revisions that differed, and some of their ids. */
  last_rebuild: z
    .strictObject({
      switched_at: z.iso.datetime(),
      compared: z.int(),
      different: z.int(),
      different_ids: z.array(z.string()),
    })
    .nullable(),
});

/** Which generations of a view exist: the registry's record, `generations/<view>@<version>`. */
export type GenerationRecord = z.infer<typeof recordSchema>;

/** Every process's picture of the registry, re-read each second. */
export interface Generations {
  readonly projections: readonly AnyProjection[];
  /** Makes missing records and collections, then reads all. @throws StoreUnavailable */
  start(): Promise<void>;
  /**
   * Reads the registry again and makes collections of new generations.
   * @throws StoreUnavailable; StoreDamaged when the views' collections were dropped under this process
   */
  refresh(): Promise<void>;
  /**
   * Says that this process uses its versions of the views, and drops those that no process uses any more.
   * @throws StoreUnavailable; StoreDamaged as above
   */
  tendVersions(): Promise<void>;
  /** @throws StoreUnavailable when the last read is too old: a switch may have been missed */
  record(projection: AnyProjection): GenerationRecord;
  /** The collection that readers use. @throws StoreUnavailable as above */
  liveCollection(projection: AnyProjection): string;
  /** All collections that are fed: live, building, retiring. @throws StoreUnavailable as above */
  fedCollections(projection: AnyProjection): readonly string[];
  /** Changes the record by compare-and-set. @returns whether it was changed: false when `change` declined or lost the race */
  change(
    projection: AnyProjection,
    change: (record: GenerationRecord) => GenerationRecord | null,
  ): Promise<boolean>;
}

const staleAfterMsDefault = 3_000;

/** @param deps.staleAfterMs how old the last read may be (milliseconds); 3 s when left out */
export function makeGenerations(deps: {
  readonly projections: readonly AnyProjection[];
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
  readonly staleAfterMs?: number;
}): Generations {
  const { projections, readModelStore, clock, staleAfterMs = staleAfterMsDefault } = deps;
  const versions = makeViewVersions(deps);
  const known = new Map<string, Known>();
  let reads = 0;

  return {
    projections,
    start: async () => {
      for (const projection of projections) {
        const first: GenerationRecord = {
          live: 1,
          building: null,
          retiring: null,
          dropping: null,
          last_rebuild: null,
        };
        // Refused means that the record exists, which is what is wanted.
        await readModelStore.putRecord(recordName(projection), first, null);
        await enterVersion(projection);
        await refreshOne(projection);
      }
    },
    refresh: async () => {
      // First, for whoever was taken for gone must not serve what was dropped.
      await versions.assertKept();
      await Promise.all(projections.map(refreshOne));
    },
    tendVersions: () => versions.tend(),
    record: (projection) => fresh(projection).record,
    liveCollection: (projection) => fresh(projection).collections.live,
    fedCollections: (projection) => fresh(projection).collections.all,
    change: async (projection, change) => {
      const stored = await readRecord(projection);
      const next = change(stored.record);
      if (next === null) return false;
      const version = await readModelStore.putRecord(recordName(projection), next, stored.version);
      await refreshOne(projection);
      return version !== null;
    },
  };

  /** Generations that were dropped while nobody used this version are never used again. */
  async function enterVersion(projection: AnyProjection): Promise<void> {
    for (;;) {
      const through = await versions.enter(projection);
      const { record, version } = await readRecord(projection);
      if (through !== null && record.live <= through) {
        const next = { ...record, live: through + 1, building: null, retiring: null, dropping: null };
        await readModelStore.putRecord(recordName(projection), next, version);
      } else if (await versions.take(projection, through)) {
        return;
      }
    }
  }

  function fresh(projection: AnyProjection): Known {
    const entry = known.get(projection.name);
    const ageMs = entry === undefined ? Infinity : clock.now().getTime() - entry.readAtMs;
    // A negative age means that the clock was set back: how old the read is, nobody knows.
    if (entry === undefined || ageMs < 0 || ageMs > staleAfterMs) {
      const seconds = staleAfterMs / 1_000;
      throw new StoreUnavailable(
        `the registry of the view ${projection.name} could not be read for ${seconds} s`,
      );
    }
    return entry;
  }

  async function refreshOne(projection: AnyProjection): Promise<void> {
    // Taken before the read: what the read returns was true at some later moment.
    const readAtMs = clock.now().getTime();
    const read = (reads += 1);
    const { record } = await readRecord(projection);
    const collections = fedBy(projection, record);
    const before = known.get(projection.name)?.collections.all ?? [];
    for (const collection of collections.all) {
      if (!before.includes(collection)) await readModelStore.ensureCollection(collection, projection.indexes);
    }
    // Reads may overtake one another; a later one is never put back.
    if ((known.get(projection.name)?.read ?? 0) > read) return;
    known.set(projection.name, { record, read, readAtMs, collections });
  }

  async function readRecord(
    projection: AnyProjection,
  ): Promise<{ readonly record: GenerationRecord; readonly version: string }> {
    const stored = await readModelStore.getRecord(recordName(projection));
    if (stored === null) throw new StoreUnavailable(`the view ${projection.name} is not in the registry`);
    return { record: recordSchema.parse(stored.value), version: stored.version };
  }
}

interface Known {
  readonly record: GenerationRecord;
  /** Counts the reads in the order in which they began. */
  readonly read: number;
  readonly readAtMs: number;
  readonly collections: Fed;
}

interface Fed {
  readonly live: string;
  readonly all: readonly string[];
}

function fedBy(projection: AnyProjection, record: GenerationRecord): Fed {
  const live = collectionName(projection, record.live);
  const others = [record.building, record.retiring].filter((other) => other !== null);
  return { live, all: [live, ...others.map((other) => collectionName(projection, other.generation))] };
}

function recordName(projection: AnyProjection): string {
  return `generations/${projection.name}@${projection.version}`;
}
