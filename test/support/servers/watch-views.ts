import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { projections } from '../../../projections/index.js';
import type { StoredEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../../src/event-sourcing/ports/read-model-store.js';
import { collectionName } from '../../../src/event-sourcing/views/projection.js';
import { eventually } from '../eventually.js';
import { measureMs } from './process-costs.js';

/** Copies of their streams change views and call for no reaction. */
const copied = ['project', 'session', 'node'];
const betweenMs = 500;
const pollMs = 100;

/**
 * Appends copies of whole streams past the services, one after the other without an end. So only a projector writes their
 * documents, and no view is behind for long without being seen.
 * @param deps.processes returns the processes that may feed
 */
export function watchViews(deps: {
  readonly log: EventStore;
  readonly readModels: ReadModelStore;
  readonly events: readonly StoredEvent[];
  readonly processes: () => readonly { readonly pid: number }[];
}) {
  const { log, readModels, processes } = deps;
  const examples = examplesOf(deps.events);
  if (examples.length < 2) throw new Error('the log has too few streams to copy');
  const behind = { tookMs: 0, ownMs: 0 };
  let [begun, stopped] = [0, false];
  let latest: Promise<void> = Promise.resolve();
  const running = run();
  // Each wait for a document throws the error too.
  running.catch(() => undefined);
  return {
    /** The longest time for which a view lacked an event, and the same without the time that processes waited for a core. */
    behind: () => behind,
    /** Resolves when the views show an event that is appended from now on. @throws Error when they never do */
    shown: async () => {
      const goal = begun + 1;
      while (begun < goal) await Promise.race([running, wait(pollMs)]);
      await latest;
    },
    /** @throws Error when the views never show an event */
    stop: async () => {
      stopped = true;
      await running;
    },
  };

  async function run(): Promise<void> {
    while (!stopped) {
      latest = copyOnce();
      begun += 1;
      await latest;
      await wait(betweenMs);
    }
  }

  async function copyOnce(): Promise<void> {
    const streams = await Promise.all(examples.map((example) => copyStream(log, example)));
    const measured = await measureMs(processes);
    await Promise.all(streams.map((stream) => untilShown(readModels, stream)));
    const { tookMs, queuedMs } = await measured();
    behind.tookMs = Math.max(behind.tookMs, tookMs);
    behind.ownMs = Math.max(behind.ownMs, tookMs - queuedMs);
  }
}

/** Returns the events of one stream of each category that is copied. */
function examplesOf(events: readonly StoredEvent[]): readonly (readonly StoredEvent[])[] {
  return copied
    .map((category) => events.find(({ stream }) => stream.startsWith(`${category}-`))?.stream)
    .filter((stream) => stream !== undefined)
    .map((stream) => events.filter((event) => event.stream === stream));
}

async function copyStream(log: EventStore, events: readonly StoredEvent[]): Promise<string> {
  const stream = `${events[0]?.stream.split('-')[0] ?? ''}-${randomUUID()}`;
  const copies = events.map(({ type, data, metadata }) => ({ id: randomUUID(), type, data, metadata }));
  await log.append(stream, 'no-stream', copies);
  return stream;
}

async function untilShown(readModels: ReadModelStore, stream: string): Promise<void> {
  const [category = ''] = stream.split('-');
  for (const projection of projections.filter((candidate) => candidate.category === category)) {
    const collection = collectionName(projection, 1);
    await eventually(
      `${collection} has ${stream}`,
      () => readModels.get(collection, stream.slice(category.length + 1)),
      { pollMs },
    );
  }
}
