import type { Clock } from './clock.js';
import { compareCollections, type Differences } from './compare-collections.js';
import type { Position } from './domain-event.js';
import type { EventStore } from './event-store.js';
import type { GenerationRecord, Generations } from './generations.js';
import { type AnyProjection, collectionName } from './projection.js';
import { isReached } from './projector.js';
import type { ReadModelStore } from './read-model-store.js';

/** Every process must have heard of a new generation, and feed it, before readers are switched to it. */
const switchAfterMs = 5_000;
/** Every process must have heard of the switch before the old generation is fed no more: they re-read each second and refuse after 3. */
const feedAfterSwitchMs = 10_000;
/** Every process must have heard that the old generation is fed no more before it goes. */
const dropAfterMs = 5_000;

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
    if (phaseOf(record) !== null) return null;
    generation = record.live + 1;
    return { ...record, building: { generation, announced_at: now.toISOString() } };
  });
  return announced ? generation : null;
}

/** Drops generations before the live one that the registry no longer names: a paused process may have made one anew by writing to it. */
export async function dropOrphanedGenerations(
  generations: Generations,
  readModelStore: ReadModelStore,
): Promise<void> {
  const collections = await readModelStore.collections();
  for (const projection of generations.projections) {
    const { live, retiring, dropping } = generations.record(projection);
    for (let generation = 1; generation < live; generation += 1) {
      if (generation === retiring?.generation || generation === dropping?.generation) continue;
      const collection = collectionName(projection, generation);
      if (collections.includes(collection)) await readModelStore.dropCollection(collection);
    }
  }
}

export interface RebuildSupervisor {
  /** Carries on the rebuild that the registry names for the view, as far as it can go now. @throws StoreUnavailable */
  carryOn(projection: AnyProjection): Promise<void>;
}

/**
 * Makes what carries rebuilds on. Every process calls it each second, so that a crash stops none. Waits count from when
 * this process first saw what the registry says, never from another's clock; so they are as long as they must be,
 * however far clocks are apart.
 */
export function makeRebuildSupervisor(
  deps: {
    readonly generations: Generations;
    readonly eventStore: EventStore;
    readonly readModelStore: ReadModelStore;
    readonly clock: Clock;
    readonly statusOf: (
      collection: string,
    ) => { readonly state: string; readonly position: Position | null } | null;
  },
  onRebuilt: (collection: string, differences: Differences) => void,
): RebuildSupervisor {
  const { generations, eventStore, readModelStore, clock, statusOf } = deps;
  const sightings = new Map<string, Sighting>();

  return {
    carryOn: async (projection) => {
      const phase = phaseOf(generations.record(projection));
      if (phase === null) {
        sightings.delete(projection.name);
        return;
      }
      const sighting = sightingOf(projection, phase);
      const ageMs = clock.now().getTime() - sighting.sinceMs;
      if (phase.name === 'building' && ageMs >= switchAfterMs) await switchOver(projection, phase, sighting);
      if (phase.name === 'retiring' && ageMs >= feedAfterSwitchMs) await stopFeeding(projection, phase);
      if (phase.name === 'dropping' && ageMs >= dropAfterMs) await drop(projection, phase);
    },
  };

  function sightingOf(projection: AnyProjection, phase: Phase): Sighting {
    const known = sightings.get(projection.name);
    if (known?.phase.name === phase.name && known.phase.generation === phase.generation) return known;
    const sighting: Sighting = { phase, sinceMs: clock.now().getTime(), goal: null };
    sightings.set(projection.name, sighting);
    return sighting;
  }

  async function switchOver(
    projection: AnyProjection,
    { generation }: Phase,
    sighting: Sighting,
  ): Promise<void> {
    // What was appended before may lack in the new generation: its command may have known only the old one.
    sighting.goal ??= { head: await eventStore.head() };
    const collection = collectionName(projection, generation);
    const status = statusOf(collection);
    if (status?.state !== 'live' || !isReached(status.position, sighting.goal.head)) return;
    const live = generations.liveCollection(projection);
    const differences = await compareCollections(readModelStore, live, collection);
    const now = clock.now().toISOString();
    const switched = await generations.change(projection, (record) =>
      record.building?.generation === generation ? switchTo(record, generation, now, differences) : null,
    );
    if (switched) onRebuilt(collection, differences);
  }

  async function stopFeeding(projection: AnyProjection, { generation }: Phase): Promise<void> {
    const since = clock.now().toISOString();
    await generations.change(projection, (record) =>
      record.retiring?.generation === generation
        ? { ...record, retiring: null, dropping: { generation, since } }
        : null,
    );
  }

  async function drop(projection: AnyProjection, { generation }: Phase): Promise<void> {
    // Dropped before it is struck off, so that a crash in between leaves it named; dropping again does nothing.
    await readModelStore.dropCollection(collectionName(projection, generation));
    await generations.change(projection, (record) =>
      record.dropping?.generation === generation ? { ...record, dropping: null } : null,
    );
  }
}

/** How far a rebuild has come; one phase at a time. */
interface Phase {
  readonly name: 'building' | 'retiring' | 'dropping';
  readonly generation: number;
}

interface Sighting {
  readonly phase: Phase;
  readonly sinceMs: number;
  /** The log's head when every process had heard of the new generation. */
  goal: { readonly head: Position | null } | null;
}

function phaseOf({ building, retiring, dropping }: GenerationRecord): Phase | null {
  if (building !== null) return { name: 'building', generation: building.generation };
  if (retiring !== null) return { name: 'retiring', generation: retiring.generation };
  if (dropping !== null) return { name: 'dropping', generation: dropping.generation };
  return null;
}

function switchTo(
  record: GenerationRecord,
  generation: number,
  now: string,
  differences: Differences,
): GenerationRecord {
  return {
    live: generation,
    building: null,
    retiring: { generation: record.live, since: now },
    dropping: null,
    last_rebuild: {
      switched_at: now,
      compared: differences.compared,
      different: differences.different,
      different_ids: [...differences.differentIds],
    },
  };
}
