import type { DocumentWrite, ReadModelStore, StoredDocument } from '../ports/read-model-store.js';
import type { EventStore, LogPage } from '../ports/event-store.js';
import { type LogEvent, parseStreamName } from '../ports/domain-event.js';
import type { Quarantine } from '../feeding/quarantine.js';
import { foldEvents, foldOnwards, type Projection } from './projection.js';

/** The documents of a collection that a projector has folded and not written yet: at most one write a document. */
export interface PendingDocuments {
  /**
   * Folds the events of a page. Before the head of the log, it expects no document of a new stream and reads none.
   * @throws StoreUnavailable, StoreDamaged, and the error of a stream too many that cannot be read
   */
  fold(page: LogPage): Promise<void>;
  /** Returns how many batches wait for a write: below 1 there is no need for one, from 2 on it must come first. */
  batches(): number;
  size(): number;
  /**
   * Takes the waiting documents, and returns the function that writes them under their guards. The next documents may
   * be folded meanwhile.
   */
  take(): () => Promise<void>;
  /** Forgets the documents that are written. Others may have changed them. */
  forgetWritten(): void;
  /** Folds a whole stream, and writes its document unless a later one is stored. @throws UndecodableEvent, StreamDamaged */
  writeWholeStream(id: string): Promise<void>;
}

/** The documents of one batch. Their memory is bounded by the events that they were folded from. */
const batchMax = { documents: 1_000, bytes: 2 * 1024 * 1024 };
/** The documents of one call to the store, which has a time limit. */
const callMax = 500;
/** The batches whose documents are kept for later events, the running one included. */
const keptBatches = 2;
const foldsAtOnce = 8;
/** The size of an event of a store that gives none. */
const defaultEventBytes = 1_024;

export function makePendingDocuments(
  deps: {
    readonly eventStore: Pick<EventStore, 'read'>;
    readonly readModelStore: Pick<ReadModelStore, 'getMany' | 'write'>;
    readonly quarantine: Pick<Quarantine, 'attempt'>;
    /** Tells whether a command of this process has written the document at this revision or a later one. */
    readonly isWritten?: (id: string, revision: bigint) => boolean;
  },
  { projection, collection }: { readonly projection: Projection; readonly collection: string },
): PendingDocuments {
  const { eventStore, readModelStore, quarantine, isWritten = () => false } = deps;
  let waiting = new Map<string, DocumentWrite>();
  let waitingBytes = 0;
  /** The last batches, the newest first. The store may not have the documents of the first one yet. */
  let taken: readonly Map<string, DocumentWrite>[] = [];

  return {
    fold: async (page) => {
      const groups = groupsLeft(page);
      if (groups.size === 0) return;
      const { documents, missing } = knownDocuments(groups, !page.atHead);
      if (missing.length > 0) {
        for (const [id, document] of await readDocuments(missing)) documents.set(id, document);
      }
      const bytesPerEvent = (page.bytes ?? defaultEventBytes * page.events.length) / page.events.length;
      for (const [id, events] of groups) {
        const before = documents.get(id) ?? null;
        const write = await quarantine.attempt(id, () => foldDocument(id, before, events));
        if (write === null) continue;
        waiting.set(id, write);
        waitingBytes += events.length * bytesPerEvent;
      }
    },
    batches: () => Math.max(waiting.size / batchMax.documents, waitingBytes / batchMax.bytes),
    size: () => waiting.size,
    take: () => {
      const batch = waiting;
      taken = [batch, ...taken.slice(0, keptBatches - 1)];
      waiting = new Map();
      waitingBytes = 0;
      return () => writeAll([...batch.values()]);
    },
    forgetWritten: () => {
      taken = [];
    },
    writeWholeStream: async (id) => {
      const write = await foldedWhole(id);
      // A refusal means that a later fold is stored.
      if (write !== null) await readModelStore.write(collection, [write]);
    },
  };

  /** Commands write documents at the head of the log, and these need no read. */
  function groupsLeft(page: LogPage): EventGroups {
    const groups = groupsOf(page, projection.category);
    if (!page.atHead) return groups;
    return new Map([...groups].filter(([id, events]) => !isWritten(id, events.at(-1)?.revision ?? -1n)));
  }

  /** Folds events into a write; null when the document has them already. */
  function foldDocument(
    id: string,
    before: StoredDocument | null,
    events: readonly LogEvent[],
  ): DocumentWrite | null | Promise<DocumentWrite | null> {
    const folded = foldEvents(projection, before, events);
    if (folded === before || folded === null) return null;
    return folded === 'gap' ? foldedWhole(id) : writeOf(folded, before);
  }

  function known(id: string): StoredDocument | undefined {
    const write = waiting.get(id);
    if (write !== undefined) return write.document;
    for (const batch of taken) {
      const before = batch.get(id);
      if (before !== undefined) return before.document;
    }
    return undefined;
  }

  /** Returns the documents in memory, and the ids of those to read. */
  function knownDocuments(
    groups: EventGroups,
    newStreams: boolean,
  ): { readonly documents: Map<string, StoredDocument>; readonly missing: readonly string[] } {
    const documents = new Map<string, StoredDocument>();
    const missing: string[] = [];
    for (const [id, [first]] of groups) {
      const document = known(id);
      if (document !== undefined) documents.set(id, document);
      // If there is a document of a new stream after all, its guard refuses the write.
      else if (!newStreams || first?.revision !== 0n) missing.push(id);
    }
    return { documents, missing };
  }

  async function readDocuments(ids: readonly string[]): Promise<ReadonlyMap<string, StoredDocument>> {
    const documents = new Map<string, StoredDocument>();
    for (let at = 0; at < ids.length; at += callMax) {
      for (const document of await readModelStore.getMany(collection, ids.slice(at, at + callMax)))
        documents.set(document.id, document);
    }
    return documents;
  }

  function writeOf(document: StoredDocument, before: StoredDocument | null): DocumentWrite {
    const foldedFrom = waiting.get(document.id)?.foldedFrom ?? before?.revision ?? 'whole-stream';
    return { document, foldedFrom };
  }

  async function foldedWhole(id: string): Promise<DocumentWrite | null> {
    const document = await foldOnwards(eventStore, projection, id, null);
    return document === null ? null : { document, foldedFrom: 'whole-stream' };
  }

  async function writeAll(writes: readonly DocumentWrite[]): Promise<void> {
    const refused: StoredDocument[] = [];
    for (let at = 0; at < writes.length; at += callMax) {
      const call = writes.slice(at, at + callMax);
      const outcomes = await readModelStore.write(collection, call);
      for (const [index, { document }] of call.entries()) {
        if (outcomes[index] !== 'refused') continue;
        for (const batch of taken) batch.delete(document.id);
        refused.push(document);
      }
    }
    await repair(refused);
  }

  /** Reads refused documents (another writer was faster) in one call, and folds on those that are really behind. */
  async function repair(refused: readonly StoredDocument[]): Promise<void> {
    if (refused.length === 0) return;
    const stored = await readDocuments(refused.map(({ id }) => id));
    const behind = refused.filter(({ id, revision }) => (stored.get(id)?.revision ?? -1n) < revision);
    const writes: DocumentWrite[] = [];
    for (let at = 0; at < behind.length; at += foldsAtOnce) {
      const folded = await Promise.all(
        behind
          .slice(at, at + foldsAtOnce)
          .map(({ id }) =>
            quarantine.attempt(id, () => foldOnwards(eventStore, projection, id, stored.get(id) ?? null)),
          ),
      );
      // Such a document is the fold of its whole stream. A second refusal means that a later fold is stored.
      for (const document of folded)
        if (document !== null) writes.push({ document, foldedFrom: 'whole-stream' });
    }
    if (writes.length > 0) await readModelStore.write(collection, writes);
  }
}

/** The events of one category, by the id of their stream, in order. */
type EventGroups = ReadonlyMap<string, readonly LogEvent[]>;

const none: EventGroups = new Map();
const grouped = new WeakMap<LogPage, Map<string, Map<string, LogEvent[]>>>();

/** Returns the events of a category in a page. A page is grouped once for all views that follow it. */
export function groupsOf(page: LogPage, category: string): EventGroups {
  let categories = grouped.get(page);
  if (categories === undefined) {
    categories = groupByCategory(page.events);
    grouped.set(page, categories);
  }
  return categories.get(category) ?? none;
}

function groupByCategory(events: readonly LogEvent[]): Map<string, Map<string, LogEvent[]>> {
  const categories = new Map<string, Map<string, LogEvent[]>>();
  for (const event of events) {
    const name = parseStreamName(event.stream);
    if (name === null) continue;
    let groups = categories.get(name.category);
    if (groups === undefined) {
      groups = new Map<string, LogEvent[]>();
      categories.set(name.category, groups);
    }
    const group = groups.get(name.id);
    if (group === undefined) groups.set(name.id, [event]);
    else group.push(event);
  }
  return categories;
}
