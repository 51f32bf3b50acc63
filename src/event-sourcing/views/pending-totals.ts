import { type PendingDocuments, groupsOf, makePendingDocuments } from './pending-documents.js';
import { type Quarantine, type Quarantined, makeQuarantine } from '../feeding/quarantine.js';
import { type LogEvent, type Position, streamName } from '../ports/domain-event.js';
import { StoreUnavailable, UndecodableEvent } from '../ports/errors.js';
import type { DocumentWrite, ReadModelStore, StoredDocument } from '../ports/read-model-store.js';
import { type AnyView, changeName, isTally, type Tally, type TotalChange, totalOf } from './projection.js';
import type { EventStore } from '../ports/event-store.js';

/** A collection to feed, and its view. */
export interface ActiveCollection {
  readonly projection: AnyView;
  readonly collection: string;
}

/** More streams than these are no exception: the view stops instead. */
const quarantinedMax = 100;

/** Makes the record of the streams that a collection cannot take in: src/event-sourcing/feeding/README.md#undecodable-events. */
export function quarantineOf(
  readModelStore: Parameters<typeof makeQuarantine>[0],
  collection: string,
  onQuarantined: (stream: Quarantined) => void,
): Quarantine {
  return makeQuarantine(readModelStore, { owner: collection, itemsMax: quarantinedMax, onQuarantined });
}

/** Makes what a feeder has folded of a collection and not written yet. */
export function makePending(
  deps: {
    readonly eventStore: Pick<EventStore, 'read'>;
    readonly readModelStore: Pick<ReadModelStore, 'getMany' | 'write'>;
    readonly quarantine: Pick<Quarantine, 'attempt'>;
    readonly isWritten?: (id: string, revision: bigint) => boolean;
  },
  { projection, collection }: ActiveCollection,
): PendingDocuments {
  return isTally(projection)
    ? makePendingTotals(deps, { tally: projection, collection })
    : makePendingDocuments(deps, { projection, collection });
}

/** Totals of one batch, and changes of one batch: about 1 MiB of memory. */
const batchMax = { totals: 1_000, changes: 10_000 };
/** The totals of one call to the store, which has a time limit. */
const callMax = 500;
/** Only a second feeder races for a total. */
const tries = 50;

/** The changes of a tally that a projector has read and not written yet: at most one write a total and batch. */
function makePendingTotals(
  deps: {
    readonly readModelStore: Pick<ReadModelStore, 'getMany' | 'write'>;
    readonly quarantine: Pick<Quarantine, 'attempt'>;
  },
  { tally, collection }: { readonly tally: Tally; readonly collection: string },
): PendingDocuments {
  const { readModelStore, quarantine } = deps;
  let waiting = new Map<string, LoggedChange[]>();
  let waitingChanges = 0;
  /** What the last call wrote. A write on one that another feeder has changed is refused. */
  let written = new Map<string, StoredDocument>();

  return {
    fold: async (page) => {
      const changes: LoggedChange[] = [];
      for (const [id, events] of groupsOf(page, tally.category))
        changes.push(...((await quarantine.attempt(id, () => changesOf(events))) ?? []));
      // Only a whole page counts: a total passes the positions of all of its changes.
      for (const change of changes) add(change);
    },
    batches: () => Math.max(waiting.size / batchMax.totals, waitingChanges / batchMax.changes),
    size: () => waiting.size,
    take: () => {
      const batch = [...waiting];
      waiting = new Map();
      waitingChanges = 0;
      return async () => {
        for (let at = 0; at < batch.length; at += callMax)
          await write(new Map(batch.slice(at, at + callMax)));
      };
    },
    // No command writes a total.
    forgetWritten: () => undefined,
    writeWholeStream: (id) => {
      throw new UndecodableEvent(
        `the stream ${streamName(tally.category, id)} is not in ${collection}: rebuild the view ${tally.name}`,
      );
    },
  };

  function add(change: LoggedChange): void {
    const changes = waiting.get(change.total);
    if (changes === undefined) waiting.set(change.total, [change]);
    else changes.push(change);
    waitingChanges += 1;
  }

  /** All events of the group are decoded before one counts: a stream that is quarantined counts whole or not at all. */
  function changesOf(events: readonly LogEvent[]): readonly LoggedChange[] {
    const changes: LoggedChange[] = [];
    for (const event of events) {
      const change = tally.changeOf(tally.codec.decode(event));
      if (change !== null) changes.push(loggedChange(event, change));
    }
    return changes;
  }

  /** Reads the totals and writes those that lack a change. When another writer was faster, it reads them again. */
  async function write(batch: ReadonlyMap<string, readonly LoggedChange[]>): Promise<void> {
    let [ids, known] = [[...batch.keys()], written];
    written = new Map();
    for (let attempt = 0; ids.length > 0; attempt += 1) {
      if (attempt === tries) throw new StoreUnavailable(`${collection} lost ${tries} races for a total`);
      const unknown = ids.filter((id) => !known.has(id));
      const read = unknown.length === 0 ? [] : await readModelStore.getMany(collection, unknown);
      const stored = new Map([...known, ...read.map((one) => [one.id, one] as const)]);
      const writes = ids.flatMap((id) => writeOf(id, stored.get(id) ?? null, batch.get(id) ?? []) ?? []);
      const outcomes = writes.length === 0 ? [] : await readModelStore.write(collection, writes);
      ids = [];
      for (const [index, { document }] of writes.entries())
        if (outcomes[index] === 'refused') ids.push(document.id);
        else written.set(document.id, document);
      known = new Map();
    }
  }
}

/** Returns the write that replaces a total by compare-and-set: its revision counts the writes. */
function writeOf(
  id: string,
  stored: StoredDocument | null,
  changes: readonly LoggedChange[],
): DocumentWrite | null {
  const total = totalWith(totalOf(stored), changes);
  if (total === null) return null;
  const revision = stored === null ? 0n : stored.revision + 1n;
  return { document: { id, revision, body: total }, foldedFrom: stored?.revision ?? 'whole-stream' };
}

/** A change and the position of its event. */
interface LoggedChange extends TotalChange {
  readonly name: string;
  readonly position: Position;
}

function loggedChange({ position, stream, metadata }: LogEvent, change: TotalChange): LoggedChange {
  return { ...change, position, name: changeName(stream, metadata) };
}

type Total = ReturnType<typeof totalOf>;

/** Adds the changes that the total lacks. Returns null when it has them all. The order of the changes is free. */
function totalWith(total: Total, changes: readonly LoggedChange[]): Total | null {
  const missing = changes.filter(({ position }) => total.position === null || position > total.position);
  const [first] = missing;
  if (first === undefined) return null;
  const bytes = missing.reduce((sum, change) => sum + BigInt(change.bytes), BigInt(total.bytes));
  const { position, name } = missing.reduce(
    (one, other) => (other.position > one.position ? other : one),
    first,
  );
  return { bytes: String(bytes), position, last: name };
}
