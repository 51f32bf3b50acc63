import type { ExecutionContext } from 'ava';
import { type AuditHistory, makeAuditHistory } from '../../../src/areas/audit/history/history.js';
import { makeLogResources } from '../../../src/areas/audit/history/log-resources.js';
import { makeProjectOf, type ProjectOf } from '../../../src/areas/audit/history/project-of.js';
import { makeTileStore } from '../../../src/areas/audit/tree/tile-store.js';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { eventually } from '../eventually.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { type MemoryEventStore, makeMemoryEventStore } from '../fakes/memory-event-store.js';
import { makeMemoryReadModelStore } from '../fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../fakes/memory-state-store.js';
import {
  appendAuditEvents,
  makeFastClock,
  makeSetBackClock,
  projectOfFirstEvent,
  readWholeLog,
  startAuditProcess,
} from './audit-scene.js';

/** A sequenced log, its events, and the calls of the history to the stores. */
export interface HistoryScene {
  readonly history: AuditHistory;
  readonly events: readonly LogEvent[];
  readonly calls: { filters: number; events: number; streams: number };
  readonly random: () => number;
  readonly eventStore: MemoryEventStore;
  readonly projectOf: ProjectOf;
}

/**
 * Makes a log of `size` events whose recorded times rise, stand still and sometimes fall, and sequences it.
 * @param append writes the events; by default events of 40 streams
 * @param projectOfFirst by default the rule of the examples
 */
export async function givenHistory(
  seed: number,
  size: number,
  append: (eventStore: MemoryEventStore, random: () => number) => Promise<void> = (eventStore, chance) =>
    appendAuditEvents(eventStore, chance, size),
  projectOfFirst: Parameters<typeof makeProjectOf>[0]['projectOfFirst'] = projectOfFirstEvent,
): Promise<HistoryScene> {
  const random = makeSeededRandom(seed);
  const clock = makeFastClock(200);
  const eventStore = makeMemoryEventStore({ random, clock: makeSetBackClock(random) });
  await append(eventStore, random);
  const readModelStore = makeMemoryReadModelStore();
  const process = startAuditProcess({
    ...{ eventStore, readModelStore, clock, random },
    stateStore: makeMemoryStateStore({ clock }),
  });
  await eventually(`${size} events are sequenced`, () => process.sequencer.stored()?.size === size);
  await process.stop();
  const calls = { filters: 0, events: 0, streams: 0 };
  const tiles = makeTileStore(readModelStore);
  const projectOf = makeProjectOf({ eventStore, projectOfFirst });
  const history = makeAuditHistory({
    eventStore: {
      read: (...call) => {
        calls.streams += 1;
        return eventStore.read(...call);
      },
    },
    resources: {
      events: (...call) => {
        calls.events += 1;
        return makeLogResources({ eventStore, tree: process.tree }).events(...call);
      },
    },
    tiles: {
      readFilters: (indexes) => {
        calls.filters += indexes.length;
        return tiles.readFilters(indexes);
      },
    },
    tree: process.tree,
    projectOf,
  });
  return { history, events: await readWholeLog(eventStore), calls, random, eventStore, projectOf };
}

/** Compares the history with plain folds over the events, at random places of random sizes. */
export async function compareWithFolds(
  t: ExecutionContext,
  { history, events, random }: HistoryScene,
  places: number,
): Promise<void> {
  const streams = [...new Set(events.map(({ stream }) => stream)), 'asset-none'];
  const chosen = <Item>(items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
  for (let round = 0; round < places; round += 1) {
    const size = 1 + Math.floor(random() * events.length);
    const index = Math.floor(random() * size);
    const [stream, there] = [chosen(streams), events[index]];
    const revision = events.slice(0, index + 1).findLast((event) => event.stream === stream)?.revision;
    t.is(await history.revisionAt(stream, index, size), revision ?? null, `${stream} at ${index} of ${size}`);
    t.deepEqual(await history.locate(index, size), there);
    const time = new Date(chosen(events).recordedAt.getTime() + Math.floor(random() * 3) - 1);
    const later = events.slice(0, size).findIndex(({ recordedAt }) => recordedAt > time);
    const count = later < 0 ? size : later;
    t.is(await history.countUntil(time, size), count, `${time.toISOString()} of ${size}`);
    t.is(await history.indexAt(time, size), count === 0 ? null : count - 1);
  }
}
