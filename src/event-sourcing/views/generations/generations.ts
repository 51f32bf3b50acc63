import { z } from 'zod';
import type { Clock } from '../../../kit/time/clock.js';
import { StoreDamaged, StoreUnavailable } from '../../ports/errors.js';
import { type AnyView, collectionName, parseCollectionName, viewVersion } from '../projection.js';
import type { ReadModelStore } from '../../ports/read-model-store.js';
import { type NamedRecord, getRecord, getRecords, loadCheckpoint, putRecord } from '../../ports/records.js';

/** A newer release may add fields. An older process reads past them, and keeps them when it changes the record. */
const recordSchema = z
  .object({
    /** The generation that readers use. */
    live: z.int().positive(),
    /** The generation that a rebuild fills; processes feed and write it like the live one. */
    building: z.object({ generation: z.int().positive(), announced_at: z.iso.datetime() }).nullable(),
    /** The former live generation; still active, for processes that do not know of the switch yet. */
    retiring: z.object({ generation: z.int().positive(), since: z.iso.datetime() }).nullable(),
    /** The generation that is no longer active, and is dropped when every process knows that. */
    dropping: z.object({ generation: z.int().positive(), since: z.iso.datetime() }).nullable(),
    /** The comparison at the last switch: documents at equal revisions, and some ids of different ones. */
    last_rebuild: z
      .object({
        switched_at: z.iso.datetime(),
        compared: z.int(),
        different: z.int(),
        different_ids: z.array(z.string()),
      })
      .nullable(),
  })
  .catchall(z.json());

/** A registry record is named `generations/<view>@<version>`. */
export const registryPrefix = 'generations/';

/** The registry record of a view: the generations that exist. */
export type GenerationRecord = z.infer<typeof recordSchema>;

/** The registry as this process last read it: src/event-sourcing/views/README.md#generations-and-rebuild. */
export type Generations = ReturnType<typeof makeGenerations>;

/**
 * The maximum age of the last read of the registry. A process with a younger one may miss a switch, but no drop: each
 * phase of a rebuild lasts `phaseMs` in `rebuild.ts`, which is longer. The difference covers an operation that began just
 * before the limit, and clocks that run slow.
 */
export const registryStaleAfterMs = 10_000;

/** @param deps.staleAfterMs maximum age of the last read; 10 s when left out */
export function makeGenerations(deps: {
  readonly projections: readonly AnyView[];
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
  readonly staleAfterMs?: number;
}) {
  const { projections, readModelStore, clock, staleAfterMs = registryStaleAfterMs } = deps;
  const entries = new Map<string, RegistryEntry>();
  let reads = 0;
  let changes = 0;

  return {
    projections,
    /** Creates missing records and collections, and reads the registry. @throws StoreUnavailable */
    start: async () => {
      await createMissingRecords();
      await refresh(projections);
    },
    /**
     * Reads the registry again and creates collections of new generations.
     * @returns a number that differs after a change of what this process knows of the registry
     * @throws StoreUnavailable; StoreDamaged when the registry has lost a view of this process
     */
    refresh: async () => {
      await refresh(projections);
      return changes;
    },
    /** @throws StoreUnavailable when the last read is stale: this process may have missed a switch */
    record: (projection: AnyView): GenerationRecord => fresh(projection).record,
    /** Returns the collection that readers use. @throws as `record` */
    liveCollection: (projection: AnyView) => fresh(projection).collections.live,
    /** Returns the active collections: live, building, retiring. @throws as `record` */
    activeCollections: (projection: AnyView): readonly string[] => fresh(projection).collections.all,
    /** Returns the live collection; null when the last read is stale. */
    knownLive: (projection: AnyView): string | null => known(projection)?.collections.live ?? null,
    /** Returns whether the registry names a generation besides the live one; false when the last read is stale. */
    isRebuilding: (projection: AnyView) => {
      const { building, retiring, dropping } = known(projection)?.record ?? {};
      return [building, retiring, dropping].some((phase) => phase != null);
    },
    /** Changes the record by compare-and-set. @returns false when `change` returned null or another process was faster */
    change: async (projection: AnyView, change: (record: GenerationRecord) => GenerationRecord | null) => {
      const name = recordName(projection);
      const stored = parse(projection, await getRecord(readModelStore, name));
      const next = change(stored.record);
      if (next === null) return false;
      const version = await putRecord(readModelStore, name, next, stored.version);
      await refresh([projection]);
      return version !== null;
    },
  };

  /** Creates the records of view versions that the registry does not name. */
  async function createMissingRecords(): Promise<void> {
    const found = await getRecords(readModelStore, projections.map(recordName));
    const missing = projections.filter((projection) => !found.has(recordName(projection)));
    if (missing.length === 0) return;
    const existing = await readModelStore.collections();
    await Promise.all(missing.map((projection) => createRecord(projection, existing)));
  }

  async function createRecord(projection: AnyView, existing: readonly string[]): Promise<void> {
    // A process that ran during a prune may have saved a checkpoint after the events of dropped documents, and created a
    // collection again. So the first generation is one with neither.
    const leftOver = existing
      .map(parseCollectionName)
      .filter((parsed) => parsed?.viewVersion === viewVersion(projection))
      .map((parsed) => parsed?.generation ?? 0);
    let live = Math.max(0, ...leftOver) + 1;
    while ((await loadCheckpoint(readModelStore, collectionName(projection, live))) !== null) live += 1;
    const first: GenerationRecord = {
      ...{ live, building: null, retiring: null, dropping: null },
      last_rebuild: null,
    };
    // A refusal means that another process has created the record.
    await putRecord(readModelStore, recordName(projection), first, null);
  }

  function fresh(projection: AnyView): RegistryEntry {
    const entry = known(projection);
    if (entry !== null) return entry;
    const seconds = staleAfterMs / 1_000;
    throw new StoreUnavailable(
      `the registry of the view ${projection.name} could not be read for ${seconds} s`,
    );
  }

  /** Returns the entry that was last read; null when it is stale. */
  function known({ name }: AnyView): RegistryEntry | null {
    const entry = entries.get(name);
    if (entry === undefined) return null;
    return clock.steadyMs() - entry.readAtMs > staleAfterMs ? null : entry;
  }

  async function refresh(some: readonly AnyView[]): Promise<void> {
    // Before the read: the result is at least as recent as this time.
    const readAtMs = clock.steadyMs();
    const read = (reads += 1);
    const names = some.map(recordName);
    const records = await getRecords(readModelStore, names);
    await Promise.all(
      some.map(async (projection, index) => {
        const stored = records.get(names[index] ?? '') ?? null;
        const before = entries.get(projection.name);
        if (before !== undefined && before.version === stored?.version) {
          if (readAtMs - before.readAtMs > staleAfterMs) changes += 1;
          if (before.read < read) entries.set(projection.name, { ...before, read, readAtMs });
          return;
        }
        const { record, version } = parse(projection, stored);
        await note(projection, { record, version, read, readAtMs, collections: namesOf(projection, record) });
      }),
    );
  }

  async function note(projection: AnyView, entry: RegistryEntry): Promise<void> {
    const before = entries.get(projection.name)?.collections.all ?? [];
    const unknown = entry.collections.all.filter((collection) => !before.includes(collection));
    await Promise.all(
      unknown.map((collection) => readModelStore.ensureCollection(collection, projection.indexes)),
    );
    // Reads may overtake one another: the later one stays.
    if ((entries.get(projection.name)?.read ?? 0) > entry.read) return;
    entries.set(projection.name, entry);
    changes += 1;
  }

  function parse(
    projection: AnyView,
    stored: NamedRecord | null,
  ): { readonly record: GenerationRecord; readonly version: bigint } {
    if (stored === null && entries.has(projection.name)) {
      throw new StoreDamaged(
        `the read models have no record of the view ${viewVersion(projection)} any more: a prune of another release dropped it, ` +
          'or the read models were deleted; start this process again',
      );
    }
    if (stored === null) throw new StoreUnavailable(`the view ${projection.name} is not in the registry`);
    return { record: recordSchema.parse(stored.value), version: stored.version };
  }
}

interface RegistryEntry {
  readonly record: GenerationRecord;
  readonly version: bigint;
  /** The number of the read, in the order in which reads began. */
  readonly read: number;
  readonly readAtMs: number;
  readonly collections: ActiveCollections;
}

interface ActiveCollections {
  readonly live: string;
  readonly all: readonly string[];
}

function namesOf(projection: AnyView, record: GenerationRecord): ActiveCollections {
  const live = collectionName(projection, record.live);
  const others = [record.building, record.retiring].filter((other) => other !== null);
  return { live, all: [live, ...others.map((other) => collectionName(projection, other.generation))] };
}

function recordName(projection: AnyView): string {
  return `${registryPrefix}${viewVersion(projection)}`;
}
