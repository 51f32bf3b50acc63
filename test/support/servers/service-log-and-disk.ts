import { isDeepStrictEqual } from 'node:util';
import { projections } from '../../../projections/index.js';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import {
  evolveDocument,
  type Projection,
  collectionName,
} from '../../../src/event-sourcing/views/projection.js';
import type { ReadModelStore, StoredDocument } from '../../../src/event-sourcing/ports/read-model-store.js';
import { makeGenerations } from '../../../src/event-sourcing/views/generations/generations.js';
import { realClock } from '../fakes/clock.js';
import { openStores } from './embedded-directory.js';

/** Reads the whole log in order. */
export async function readLog(eventStore: EventStore): Promise<readonly LogEvent[]> {
  const events: LogEvent[] = [];
  for (let after: string | null = null; ;) {
    const page = await eventStore.readAll({ after, limit: 1_000 });
    events.push(...page.events);
    after = page.cursor;
    if (page.atHead) return events;
  }
}

/** Returns the inconsistencies of a log as sentences: gaps in streams, duplicate ids and half-written appends. */
export function findLogProblems(events: readonly LogEvent[]): readonly string[] {
  const problems: string[] = [];
  const ids = new Set<string>();
  for (const [stream, own] of byStream(events)) {
    own.forEach((event, index) => {
      if (event.revision !== BigInt(index))
        problems.push(`${stream}: revision ${event.revision} at ${index}`);
      if (ids.has(event.id)) problems.push(`${stream}: the id ${event.id} is there twice`);
      ids.add(event.id);
      // Registration is the only append of several events: an account and its capacity.
      const next = own[index + 1];
      const whole = next?.type === 'CapacityGranted' && sameCommand(event, next);
      if (event.type === 'UserRegistered' && !whole) problems.push(`${stream}: half an append`);
    });
  }
  return problems;
}

/**
 * Returns the documents that differ from a fold of their streams, as sentences. Compares all of every view's live
 * collection.
 */
export async function findViewProblems(
  events: readonly LogEvent[],
  readModelStore: ReadModelStore,
  generationOf: (projection: Projection) => number,
): Promise<readonly string[]> {
  const problems: string[] = [];
  const streams = byStream(events);
  for (const projection of projections) {
    const collection = collectionName(projection, generationOf(projection));
    const expected = new Map<string, StoredDocument>();
    for (const [stream, own] of streams) {
      if (!stream.startsWith(`${projection.category}-`)) continue;
      const document = own.reduce<StoredDocument | null>((before, event) => {
        return evolveDocument(projection, before, projection.codec.decode(event));
      }, null);
      if (document !== null) expected.set(document.id, document);
    }
    const stored = await scanAll(readModelStore, collection);
    for (const document of stored) {
      if (!isDeepStrictEqual(document, expected.get(document.id))) {
        problems.push(`${collection}: ${document.id} is not the fold of its stream`);
      }
      expected.delete(document.id);
    }
    problems.push(...[...expected.keys()].map((id) => `${collection}: ${id} is missing`));
  }
  return problems;
}

async function scanAll(store: ReadModelStore, collection: string): Promise<readonly StoredDocument[]> {
  const documents: StoredDocument[] = [];
  for (;;) {
    const last = documents.at(-1);
    const page = await store.scan(collection, {
      limit: 500,
      ...(last === undefined ? {} : { after: last.id }),
    });
    documents.push(...page);
    if (page.length < 500) return documents;
  }
}

function byStream(events: readonly LogEvent[]): ReadonlyMap<string, readonly LogEvent[]> {
  const streams = new Map<string, LogEvent[]>();
  for (const event of events) {
    const own = streams.get(event.stream);
    if (own === undefined) streams.set(event.stream, [event]);
    else own.push(event);
  }
  return streams;
}

function sameCommand(one: LogEvent, other: LogEvent): boolean {
  return one.metadata.command_id === other.metadata.command_id;
}

/** The whole log, and the inconsistencies of the log and the views as sentences. */
interface Inspected {
  readonly events: readonly LogEvent[];
  readonly problems: readonly string[];
}

/** Inspects the data directory of a service that has ended. */
export async function inspectDisk(directory: string): Promise<Inspected> {
  const stores = await openStores(directory);
  try {
    return await inspectStores(stores);
  } finally {
    await stores.close();
  }
}

/** Inspects the stores of processes that have ended. */
export async function inspectStores({
  readModelStore,
  eventStore,
}: {
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
}): Promise<Inspected> {
  const events = await readLog(eventStore);
  const generations = makeGenerations({ projections, readModelStore, clock: realClock });
  await generations.start();
  const liveOf = (projection: (typeof projections)[number]): number => generations.record(projection).live;
  const ofViews = await findViewProblems(events, readModelStore, liveOf);
  return { events, problems: [...findLogProblems(events), ...ofViews] };
}
