import { statSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { NotCanonical, entryOf } from '../../areas/audit/tree/canonical-json.js';
import type { IndexedEvent, Moment } from '../../areas/audit/history/history.js';
import { ReplayProblem, logUntil } from '../../areas/audit/tree/log-until.js';
import { leafHash } from '../../areas/audit/tree/merkle.js';
import { makeGrowingTree } from '../../areas/audit/tree/tiles.js';
import type { StoredEvent } from '../../event-sourcing/ports/domain-event.js';
import {
  EventTooLarge,
  OutcomeUnknown,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../event-sourcing/ports/errors.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import { replayManifest } from '../../stores/embedded/files/directory-lock.js';
import { openEmbeddedStores } from '../../stores/embedded/open-embedded-stores.js';
import { version } from '../../version.js';
import type { OnShare } from '../backup/backup.js';
import { namesIn, syncPath, fillFolder } from '../backup/backup-folder.js';
import type { ReplayOrigin, ReplaySource } from './replay-source.js';
import { systemClock, systemRandom } from '../../composition/system.js';
import { allViews } from '../../../projections/index.js';
import type { Clock, Random } from '../../kit/time/clock.js';
import type { ReadModelStore } from '../../event-sourcing/ports/read-model-store.js';
import { makeGenerations } from '../../event-sourcing/views/generations/generations.js';
import type { AnyView } from '../../event-sourcing/views/projection.js';
import { isReached, runProjector } from '../../event-sourcing/feeding/projectors/projector.js';

/** A stream that a view could not take in: src/event-sourcing/feeding/README.md#undecodable-events. */
export type QuarantinedInReplay = { readonly view: string; readonly id: string; readonly reason: string };

/**
 * Builds all views of a log in an empty read-model store, with the projectors of the service.
 * @returns the streams that views have quarantined
 * @throws StoreUnavailable at the first failure of a store; StoreDamaged, UndecodableEvent when a view must stop
 */
export async function buildViews(
  deps: {
    readonly eventStore: EventStore;
    readonly readModelStore: ReadModelStore;
    readonly clock: Clock;
    readonly random: Random;
  },
  onShare: OnShare,
): Promise<readonly QuarantinedInReplay[]> {
  const { eventStore, readModelStore, clock } = deps;
  /** By view and stream: a later event of a stream quarantines it again. */
  const found = new Map<string, QuarantinedInReplay>();
  const head = await eventStore.head();
  const generations = makeGenerations({ projections: allViews, readModelStore, clock });
  await generations.start();
  const shares = new Map<AnyView, number>();
  const building = allViews.map((view) => ({ view, collection: generations.liveCollection(view) }));
  await Promise.all(building.map((target) => build(target)));
  return [...found.values()];

  async function build(target: { readonly view: AnyView; readonly collection: string }): Promise<void> {
    const { view, collection } = target;
    const ending = new AbortController();
    const failures: Error[] = [];
    await runProjector(
      deps,
      { projection: view, collection },
      {
        signal: ending.signal,
        onProgress: ({ position }) => {
          shares.set(view, Number(position ?? 0) / Number(head ?? 1));
          onShare([...shares.values()].reduce((sum, share) => sum + share, 0) / allViews.length);
          if (isReached(position, head)) ending.abort();
        },
        onRetry: (error) => {
          // A service waits for its stores. A command that waited for room on a disk would never end.
          failures.push(error);
          ending.abort();
        },
        onQuarantined: ({ id, reason }) => found.set(`${view.name}/${id}`, { view: view.name, id, reason }),
      },
    );
    const [failure] = failures;
    if (failure !== undefined) throw failure;
  }
}

/** What a replay has built. `root` (base64) is that of the Merkle tree over its events. */
export type Replayed = {
  readonly folder: string;
  readonly source: ReplayOrigin;
  readonly events: number;
  /** `recorded_at` of the last event; null for an empty log. */
  readonly until: string | null;
  readonly root: string;
  readonly quarantined: readonly QuarantinedInReplay[];
};

/** Events that are appended at once. The queue of a writer takes 64 MiB, and an event has at most 256 KiB. */
const appendsAtOnce = 200;
/** The part of the work that the copy of the events is. */
const copyShare = 0.5;

/**
 * Builds a data directory from the events of a log up to a moment: the events with the times at which they were recorded,
 * and all views. The log of the directory gets a new id. No key and no state is copied, so sealed values stay sealed. The folder has its name only when it is whole and durable.
 * @throws ReplayProblem, StoreUnavailable, StoreDamaged with a sentence that says what to do
 */
export async function replayInto(
  source: ReplaySource,
  folder: string,
  input: { readonly streamPrefix: string; readonly until: Moment | null; readonly onShare: OnShare },
): Promise<Replayed> {
  const { streamPrefix, until, onShare } = input;
  const target = resolve(folder);
  refuseContent(target);
  const made = await fillFolder(target, async (partial) => {
    const filled = await fill(partial, source, { streamPrefix, until, onShare }).catch(asUnavailable);
    const content = {
      format: 1,
      service_version: version,
      made_at: systemClock.now().toISOString(),
      ...filled,
    };
    writeFileSync(join(partial, replayManifest), JSON.stringify(content, null, 2), { mode: 0o600 });
    for (const name of namesIn(partial)) syncPath(join(partial, name));
    syncPath(partial);
    return filled;
  });
  return { folder: target, ...made };
}

async function fill(
  directory: string,
  source: ReplaySource,
  { streamPrefix, until, onShare }: Parameters<typeof replayInto>[2],
): Promise<Omit<Replayed, 'folder'>> {
  let recordedAt = systemClock.now();
  const fatal: Error[] = [];
  const stores = await openEmbeddedStores({
    ...{ directory, streamPrefix, random: systemRandom },
    clock: { ...systemClock, now: () => recordedAt },
    onFatal: (error) => fatal.push(error),
  });
  try {
    const tree = makeGrowingTree({ size: 0, edge: [] });
    for await (const { events, share } of logUntil(source.parts(), until)) {
      for (const { index, event } of events) tree.add(leafOf(index, event));
      for (let first = 0; first < events.length; first += appendsAtOnce) {
        await append(events.slice(first, first + appendsAtOnce));
      }
      onShare(share * copyShare);
    }
    const quarantined = await buildViews({ ...stores, clock: systemClock, random: systemRandom }, (share) => {
      onShare(copyShare + share * (1 - copyShare));
    });
    if (fatal[0] !== undefined) throw fatal[0];
    return {
      ...{ source: source.origin, events: tree.size(), root: tree.root().toString('base64') },
      ...{ until: tree.size() === 0 ? null : recordedAt.toISOString(), quarantined },
    };
  } finally {
    await stores.close();
  }

  /** Appends in log order: the store takes the appends of one turn of the event loop in their order. */
  async function append(events: readonly IndexedEvent<StoredEvent>[]): Promise<void> {
    const appending = events.map((indexed) => {
      recordedAt = indexed.event.recordedAt;
      return appendOne(stores.eventStore, indexed);
    });
    let before = '';
    for (const [at, position] of (await Promise.all(appending)).entries()) {
      if (position <= before) throw new Error(`event ${events[at]?.index} was appended out of order`);
      before = position;
    }
  }
}

function leafOf(index: number, event: StoredEvent): Buffer {
  try {
    return leafHash(entryOf(event));
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    throw new ReplayProblem(`${nameOf(index, event)} has no canonical form: ${error.message}`);
  }
}

async function appendOne(
  eventStore: EventStore,
  { index, event }: IndexedEvent<StoredEvent>,
): Promise<string> {
  const { id, type, data, metadata, stream, revision } = event;
  try {
    const expected = revision === 0n ? 'no-stream' : revision - 1n;
    const appended = await eventStore.append(stream, expected, [{ id, type, data, metadata }]);
    return appended?.position ?? '';
  } catch (error) {
    if (error instanceof WrongExpectedRevision) {
      throw new ReplayProblem(
        `${nameOf(index, event)} does not follow the stream's last event; events are missing`,
      );
    }
    if (error instanceof EventTooLarge)
      throw new ReplayProblem(`${nameOf(index, event)} is ${error.message}`);
    throw error;
  }
}

function nameOf(index: number, { stream, revision }: StoredEvent): string {
  return `the event at index ${index}, revision ${revision} of the stream ${stream},`;
}

function refuseContent(target: string): void {
  const found = statSync(target, { throwIfNoEntry: false });
  if (found === undefined) return;
  if (found.isDirectory() && namesIn(target).length === 0) return;
  const what = found.isDirectory() ? 'is not empty' : 'is no folder';
  throw new ReplayProblem(`${target} ${what}; name a folder that does not exist`);
}

function asUnavailable(error: unknown): never {
  throw error instanceof OutcomeUnknown ? new StoreUnavailable(error.message, { cause: error }) : error;
}
