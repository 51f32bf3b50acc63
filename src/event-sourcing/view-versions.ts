import { z } from 'zod';
import type { Clock } from './clock.js';
import { StoreDamaged } from './errors.js';
import { type AnyProjection, collectionName } from './projection.js';
import type { ReadModelStore, VersionedRecord } from './read-model-store.js';

/** Every process writes anew each 30 s that it uses its versions of the views. */
const beatMs = 30_000;
/** Nobody uses a version whose record has stayed the same for so long, looked at all the while. */
const unusedMs = 600_000;
/** A process that has not said so for this long looks first whether it was taken for gone. */
const unheardMs = 300_000;
/** Whoever has not looked for so long, or was paused, begins to watch again. */
const unwatchedMs = 120_000;

/** The registry's record `in-use/<view>@<version>`: it changes while a process of that version runs. */
const recordSchema = z.strictObject({
  /** Generations up to this one have been dropped, and their numbers are never used again; null: the version is in use. */
  dropped_through: z.int().positive().nullable(),
});
type UseRecord = z.infer<typeof recordSchema>;

/** Keeps the collections of the views' versions that some process uses, and drops all others. */
export interface ViewVersions {
  /**
   * Says that this process uses its version of the view. Called before its collections are made.
   * @returns the generation up to which they were dropped, when nobody had used it for long
   */
  enter(projection: AnyProjection): Promise<number | null>;
  /** Marks the version as in use, once what was dropped is not to be used any more; false: look again. */
  take(projection: AnyProjection, droppedThrough: number | null): Promise<boolean>;
  /**
   * To be called before what this process serves is believed: looks only where it has not been heard of for long.
   * @throws StoreDamaged when others took this process for gone, and dropped its collections; StoreUnavailable
   */
  assertKept(): Promise<void>;
  /**
   * To be called each second: says that this process runs, and drops what nobody has used for ten minutes. What cannot be
   * written now is written later. @throws StoreDamaged as above; StoreUnavailable
   */
  tend(): Promise<void>;
}

/** Waits count from when this process first saw a record, never from another's clock. */
export function makeViewVersions(deps: {
  readonly projections: readonly AnyProjection[];
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
}): ViewVersions {
  const { projections, readModelStore, clock } = deps;
  const own = projections.map(versionOf);
  const sightings = new Map<string, { version: string; sinceMs: number; lookedMs: number }>();
  let beatAtMs = -Infinity;
  let lookedAtMs = -Infinity;

  return {
    enter: async (projection) => (await read(versionOf(projection)))?.use.dropped_through ?? null,
    take: async (projection, droppedThrough) => {
      const stored = await read(versionOf(projection));
      if ((stored?.use.dropped_through ?? null) !== droppedThrough) return false;
      return put(versionOf(projection), { dropped_through: null }, stored);
    },
    assertKept: async () => {
      const ageMs = clock.now().getTime() - beatAtMs;
      if (ageMs < 0 || ageMs >= unheardMs) await Promise.all(own.map(readOwn));
    },
    tend: async () => {
      if (isDue(beatAtMs)) await beat();
      if (isDue(lookedAtMs)) await dropUnused();
    },
  };

  async function beat(): Promise<void> {
    const atMs = clock.now().getTime();
    await Promise.all(
      own.map(async (name) => {
        const isWritten = await put(name, { dropped_through: null }, await readOwn(name));
        // Another process of this version was first, and it is in use; or one of another version, and it is dropped.
        if (!isWritten) await readOwn(name);
      }),
    );
    beatAtMs = atMs;
  }

  async function readOwn(name: string): ReturnType<typeof read> {
    const stored = await read(name);
    if (stored?.use.dropped_through == null) return stored;
    throw new StoreDamaged(
      `the view ${name} was taken for unused and dropped, for this process was not heard of for ten minutes; start it again`,
    );
  }

  async function dropUnused(): Promise<void> {
    lookedAtMs = clock.now().getTime();
    const generationsByName = new Map<string, number[]>();
    for (const collection of await readModelStore.collections()) {
      const [, name, generation] = /^(.+@\d+)\.(\d+)$/.exec(collection) ?? [];
      if (name === undefined) continue;
      generationsByName.set(name, [...(generationsByName.get(name) ?? []), Number(generation)]);
    }
    for (const [name, generations] of generationsByName) await dropIfUnused(name, generations);
  }

  async function dropIfUnused(name: string, generations: readonly number[]): Promise<void> {
    const stored = await read(name);
    // Its processes may be older than these records: nobody knows of them.
    if (stored === null) return;
    let through = stored.use.dropped_through;
    if (through === null) {
      if (!isUnused(name, stored.version)) return;
      through = Math.max(...generations);
      // From here on whoever starts uses later generations; whoever runs has changed the record, and this is refused.
      if (!(await put(name, { dropped_through: through }, stored))) return;
    }
    const last = through;
    for (const generation of generations.filter((number) => number <= last)) {
      await readModelStore.dropCollection(`${name}.${generation}`);
    }
  }

  function isUnused(name: string, version: string): boolean {
    const nowMs = clock.now().getTime();
    const known = sightings.get(name);
    const isWatched =
      known?.version === version && nowMs >= known.lookedMs && nowMs - known.lookedMs < unwatchedMs;
    const sinceMs = isWatched ? known.sinceMs : nowMs;
    sightings.set(name, { version, sinceMs, lookedMs: nowMs });
    return nowMs - sinceMs >= unusedMs;
  }

  /** A clock that was set back makes it due: how long it has been, nobody knows. */
  function isDue(lastMs: number): boolean {
    const ageMs = clock.now().getTime() - lastMs;
    return ageMs < 0 || ageMs >= beatMs;
  }

  async function read(name: string): Promise<{ readonly use: UseRecord; readonly version: string } | null> {
    const stored: VersionedRecord | null = await readModelStore.getRecord(recordName(name));
    return stored === null ? null : { use: recordSchema.parse(stored.value), version: stored.version };
  }

  async function put(
    name: string,
    use: UseRecord,
    over: { readonly version: string } | null,
  ): Promise<boolean> {
    return (await readModelStore.putRecord(recordName(name), use, over?.version ?? null)) !== null;
  }
}

function versionOf(projection: AnyProjection): string {
  return collectionName(projection, 1).replace(/\.1$/, '');
}

function recordName(name: string): string {
  return `in-use/${name}`;
}
