import type { Clock } from '../../../kit/time/clock.js';
import type { Position } from '../../ports/domain-event.js';
import type { EventStore } from '../../ports/event-store.js';
import { type GenerationRecord, type Generations, registryStaleAfterMs } from './generations.js';
import { type AnyView, collectionName, isTally, totalOf } from '../projection.js';
import { isReached } from '../../feeding/projectors/projector.js';
import type { ReadModelStore, StoredDocument } from '../../ports/read-model-store.js';
import { dropGeneration } from './prune-views.js';
import { isDeepStrictEqual } from 'node:util';

/**
 * The least duration of each phase of a rebuild. It is longer than a process uses a stale registry, so in the next phase
 * every process knows the phase before:
 * - before readers switch, every process writes both generations, or its events precede the head that the switch awaits;
 * - before the feed of the old generation ends, no process reads it;
 * - before the drop, no process writes it.
 */
const phaseMs = registryStaleAfterMs + 5_000;

/**
 * Announces a new generation of a view. All processes write it, and its feeder switches when it has caught up.
 * @returns its number; null while another rebuild runs
 */
export async function requestRebuild(
  generations: Generations,
  projection: AnyView,
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

/** Drops old generations that the registry does not name: a write of a paused process may have created one again. */
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
      if (collections.includes(collection)) await dropGeneration(readModelStore, collection);
    }
  }
}

/**
 * Makes the supervisor that carries rebuilds on. The process that feeds the view calls it each second. Two processes that
 * do so at once are harmless, because the record changes by compare-and-set. A wait starts when this process first sees
 * the phase in the registry, so clocks that differ cannot shorten it.
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
    /** Ends a comparison. */
    readonly signal: AbortSignal;
  },
  onRebuilt: (collection: string, differences: Differences) => void,
) {
  const { generations, eventStore, readModelStore, clock, statusOf, signal } = deps;
  const sightings = new Map<string, Sighting>();

  return {
    /** Carries on the rebuild of the view, as far as it can go now. @throws StoreUnavailable */
    carryOn: async (projection: AnyView): Promise<void> => {
      const phase = phaseOf(generations.record(projection));
      if (phase === null) {
        sightings.delete(projection.name);
        return;
      }
      const sighting = sightingOf(projection, phase);
      const ageMs = clock.steadyMs() - sighting.sinceMs;
      if (ageMs < phaseMs) return;
      if (phase.name === 'building') await switchOver(projection, phase, sighting);
      if (phase.name === 'retiring') await stopFeeding(projection, phase);
      if (phase.name === 'dropping') await drop(projection, phase);
    },
  };

  function sightingOf(projection: AnyView, phase: Phase): Sighting {
    const earlier = sightings.get(projection.name);
    if (earlier?.phase.name === phase.name && earlier.phase.generation === phase.generation) return earlier;
    const sighting: Sighting = { phase, sinceMs: clock.steadyMs(), goal: null };
    sightings.set(projection.name, sighting);
    return sighting;
  }

  async function switchOver(projection: AnyView, { generation }: Phase, sighting: Sighting): Promise<void> {
    // Up to this head, commands may have written only the old generation, so the projector must have passed it.
    sighting.goal ??= { head: await eventStore.head() };
    const collection = collectionName(projection, generation);
    const status = statusOf(collection);
    if (status === null || status.state === 'stopped' || !isReached(status.position, sighting.goal.head))
      return;
    const live = generations.liveCollection(projection);
    const compared = { live, building: collection };
    const differences = await compareCollections(readModelStore, projection, compared, signal);
    const now = clock.now().toISOString();
    const switched = await generations.change(projection, (record) =>
      record.building?.generation === generation ? switchTo(record, generation, now, differences) : null,
    );
    if (switched) onRebuilt(collection, differences);
  }

  async function stopFeeding(projection: AnyView, { generation }: Phase): Promise<void> {
    const since = clock.now().toISOString();
    await generations.change(projection, (record) =>
      record.retiring?.generation === generation
        ? { ...record, retiring: null, dropping: { generation, since } }
        : null,
    );
  }

  async function drop(projection: AnyView, { generation }: Phase): Promise<void> {
    // The drop comes first: after a crash in between the record still names the generation. A second drop does nothing.
    await dropGeneration(readModelStore, collectionName(projection, generation));
    await generations.change(projection, (record) =>
      record.dropping?.generation === generation ? { ...record, dropping: null } : null,
    );
  }
}

/** The phase of a rebuild. */
interface Phase {
  readonly name: 'building' | 'retiring' | 'dropping';
  readonly generation: number;
}

interface Sighting {
  readonly phase: Phase;
  readonly sinceMs: number;
  /** The head of the log when every process knew of the new generation; null before. */
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
    ...record,
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

const differentIdsMax = 100;
const pageSize = 200;

interface Differences {
  /** Documents that hold the same events in both collections. */
  readonly compared: number;
  readonly different: number;
  /** The ids of the first 100 different documents. */
  readonly differentIds: readonly string[];
}

/** Compares the documents of two generations that hold the same events. Of others, one is merely ahead. */
async function compareCollections(
  readModelStore: ReadModelStore,
  view: AnyView,
  { live, building }: { readonly live: string; readonly building: string },
  signal: AbortSignal,
): Promise<Differences> {
  let compared = 0;
  let different = 0;
  const differentIds: string[] = [];
  let after: string | undefined;
  for (;;) {
    signal.throwIfAborted();
    const page = await readModelStore.scan(live, {
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
    });
    const others = new Map<string, StoredDocument>();
    const ids = page.map((document) => document.id);
    for (const other of await readModelStore.getMany(building, ids)) others.set(other.id, other);
    for (const document of page) {
      const other = others.get(document.id);
      if (other === undefined) continue;
      const [one, another] = [contentOf(document), contentOf(other)];
      if (one.upTo !== another.upTo) continue;
      compared += 1;
      if (isDeepStrictEqual(one.value, another.value)) continue;
      different += 1;
      if (differentIds.length < differentIdsMax) differentIds.push(document.id);
    }
    after = page.at(-1)?.id;
    if (page.length < pageSize) return { compared, different, differentIds };
  }

  /** Returns up to which event the document goes, and what it holds. Announced changes are no events. */
  function contentOf(document: StoredDocument): { readonly upTo: unknown; readonly value: unknown } {
    if (!isTally(view)) return { upTo: document.revision, value: document.body };
    const { position, bytes } = totalOf(document);
    return { upTo: position, value: bytes };
  }
}
