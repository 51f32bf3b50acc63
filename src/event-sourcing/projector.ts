import type { LRUCache } from 'lru-cache';
import { fingerprintOf, makeLoadOwnCheckpoint } from './checkpoints.js';
import { backoff, type Clock, type Random } from './clock.js';
import { parseStreamName } from './decider.js';
import type { DocumentWriter } from './document-writer.js';
import type { LogEvent, Position } from './domain-event.js';
import { StoreUnavailable } from './errors.js';
import type { EventStore, LogPage } from './event-store.js';
import { foldEvents, foldWholeStream } from './fold-documents.js';
import { makeLru } from './lru.js';
import type { AnyProjection } from './projection.js';
import type { DocumentWrite, ReadModelStore, StoredDocument } from './read-model-store.js';

export interface ProjectorDeps {
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
  readonly random: Random;
  /** Through which commands of this process write: what is under way is waited for. Nothing rests on it. */
  readonly documentWriter?: Pick<DocumentWriter, 'settled'>;
}

/** What a projector tells of itself. */
export interface ProjectorProgress {
  /** The last position whose documents are written; null at the start of the log. */
  readonly position: Position | null;
  /** Whether it stood at the end of the log when it last looked. */
  readonly atHead: boolean;
  /** When the last event that it took was recorded; null before the first. */
  readonly lastEventAt: Date | null;
}

const cachedDocumentsMax = 1_000;
const checkpointIntervalMs = 1_000;
/** At the head of the log, so many events of other views are worth a checkpoint. */
const checkpointEvents = 500;

/**
 * Feeds one collection from the log until the signal aborts: takes the events of the view's streams, folds them into
 * the documents, writes these under their guards, then moves the checkpoint. Any number of projectors may feed one
 * collection; a document takes revision r + 1 and no other, so they all end in the same documents.
 * A store that is away is waited for. @throws UndecodableEvent, StoreDamaged: the projection must not go on
 */
export async function runProjector(
  deps: ProjectorDeps,
  { projection, collection }: { readonly projection: AnyProjection; readonly collection: string },
  options: {
    readonly signal: AbortSignal;
    readonly onProgress: (progress: ProjectorProgress) => void;
    readonly onRetry: (error: Error, attempt: number) => void;
  },
): Promise<void> {
  const { eventStore, readModelStore, clock, random, documentWriter } = deps;
  const { signal, onProgress, onRetry } = options;
  const aborted = (): boolean => signal.aborted;
  const loadOwnCheckpoint = makeLoadOwnCheckpoint(deps, collection, `the view ${collection}`);
  let attempt = 0;
  // Kept from one subscription to the next, so that also those that end early get somewhere.
  let savedAtMs = clock.now().getTime();
  while (!aborted()) {
    try {
      await follow();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (aborted()) return;
      onRetry(error, attempt);
    }
    // Also after a subscription that ended by itself. An aborted wait ends the loop.
    await clock.sleep(backoff(attempt, random, { first: 250, cap: 10_000 }), signal).catch(() => undefined);
    attempt += 1;
  }

  /** From the durable checkpoint on; nothing that this process remembered from before an error is used. */
  async function follow(): Promise<void> {
    const { logId, checkpoint } = await loadOwnCheckpoint();
    const documents = makeLru<StoredDocument>(cachedDocumentsMax);
    let saved = checkpoint?.position ?? null;
    let done = saved;
    let fingerprint = checkpoint?.fingerprint;
    let eventsPassed = 0;
    let lastEventAt: Date | null = null;
    // The page before is written while the next one is read and folded.
    let writing: Promise<void> = Promise.resolve();
    onProgress({ position: checkpoint?.position ?? null, atHead: false, lastEventAt });
    try {
      for await (const page of eventStore.subscribe({ after: checkpoint?.position ?? null, signal })) {
        await letCommandsWrite(page);
        const writes = await foldPage(page, documents);
        await writing;
        writing = finishPage(page, writes, documents);
        // Awaited at the next page; the handler only keeps an early failure from being unhandled.
        writing.catch(() => undefined);
        if (page.atHead) {
          await writing;
          // Other writers, such as commands, go first from here on: memory would lag behind them.
          // (Clearing costs by the most that it ever held, and so is left out where it is empty.)
          if (documents.size > 0) documents.clear();
        }
      }
    } finally {
      await writing.catch(() => undefined);
    }
    await writing;
    // The subscription has ended because the process does: the next start need not read again what has been read.
    await saveCheckpoint();

    async function finishPage(
      page: LogPage,
      writes: readonly DocumentWrite[],
      cache: LRUCache<string, StoredDocument>,
    ): Promise<void> {
      await writeGuarded(writes, cache);
      const nowMs = clock.now().getTime();
      const lastEvent = page.events.at(-1);
      if (lastEvent !== undefined) {
        lastEventAt = lastEvent.recordedAt;
        fingerprint = fingerprintOf(lastEvent);
      }
      done = page.cursor;
      eventsPassed += page.events.length;
      const worthSaving = writes.length > 0 || eventsPassed >= checkpointEvents;
      if (nowMs - savedAtMs >= checkpointIntervalMs || (page.atHead && worthSaving)) {
        await saveCheckpoint();
        savedAtMs = nowMs;
        eventsPassed = 0;
      }
      onProgress({ position: page.cursor, atHead: page.atHead, lastEventAt });
      attempt = 0;
    }

    async function saveCheckpoint(): Promise<void> {
      if (done === null || done === saved) return;
      await readModelStore.saveCheckpoint(collection, {
        logId,
        position: done,
        ...(fingerprint === undefined ? {} : { fingerprint }),
      });
      saved = done;
    }
  }

  /** At the head commands of this process write documents too: those that are finished first need no fold, and no second write. */
  async function letCommandsWrite({ atHead }: LogPage): Promise<void> {
    if (atHead) await documentWriter?.settled();
  }

  /** The writes that a page asks for, one a document. */
  async function foldPage(
    page: LogPage,
    cache: LRUCache<string, StoredDocument>,
  ): Promise<readonly DocumentWrite[]> {
    const byDocument = groupByDocument(page.events);
    const missing = [...byDocument.keys()].filter((id) => !cache.has(id));
    const stored = new Map<string, StoredDocument>();
    if (missing.length > 0) {
      for (const document of await readModelStore.getMany(collection, missing))
        stored.set(document.id, document);
    }
    const writes: DocumentWrite[] = [];
    for (const [id, events] of byDocument) {
      const before = cache.get(id) ?? stored.get(id) ?? null;
      const folded = foldEvents(projection, before, events);
      if (folded === 'gap') {
        const whole = await foldWholeStream(eventStore, projection, id);
        if (whole !== null) writes.push({ document: whole, foldedFrom: 'whole-stream' });
      } else if (folded !== null && folded !== before) {
        writes.push({ document: folded, foldedFrom: before === null ? 'whole-stream' : before.revision });
      }
    }
    for (const { document } of writes) cache.set(document.id, document);
    return writes;
  }

  function groupByDocument(events: readonly LogEvent[]): Map<string, LogEvent[]> {
    const groups = new Map<string, LogEvent[]>();
    for (const event of events) {
      const name = parseStreamName(event.stream);
      if (name?.category !== projection.category) continue;
      const group = groups.get(name.id);
      if (group === undefined) groups.set(name.id, [event]);
      else group.push(event);
    }
    return groups;
  }

  /** Writes; where a guard refused, somebody else wrote the document meanwhile: look again, and fold the whole stream. */
  async function writeGuarded(
    writes: readonly DocumentWrite[],
    cache: LRUCache<string, StoredDocument>,
  ): Promise<void> {
    if (writes.length === 0) return;
    const outcomes = await readModelStore.write(collection, writes);
    const refused = writes.filter((_, index) => outcomes[index] === 'refused');
    for (const { document } of refused) cache.delete(document.id);
    for (const { document } of refused) {
      const stored = await readModelStore.get(collection, document.id);
      if (stored !== null && stored.revision >= document.revision) continue;
      const whole = await foldWholeStream(eventStore, projection, document.id);
      // Refused once more means that a later fold stands there already.
      if (whole !== null)
        await readModelStore.write(collection, [{ document: whole, foldedFrom: 'whole-stream' }]);
    }
  }
}

/** Whether a position is at or past another: positions sort as bytes. */
export function isReached(position: Position | null, goal: Position | null): boolean {
  if (goal === null) return true;
  return position !== null && position >= goal;
}
