import { makeCheckpointSaver, makeLoadOwnCheckpoint } from '../checkpoints.js';
import type { Quarantined } from '../quarantine.js';
import { followLog, type ConsumerRun } from '../follow-log.js';
import type { Clock, Random } from '../../../kit/time/clock.js';
import type { LogEvent, Position } from '../../ports/domain-event.js';
import type { EventStore, LogPage } from '../../ports/event-store.js';
import { type ActiveCollection, makePending, quarantineOf } from '../../views/pending-totals.js';
import type { ReadModelStore } from '../../ports/read-model-store.js';
import { isTally } from '../../views/projection.js';
import type { DocumentWriter } from '../../views/document-writer.js';
import { loadCheckpoint } from '../../ports/records.js';

export interface ProjectorDeps {
  readonly eventStore: EventStore;
  readonly readModelStore: ReadModelStore;
  readonly clock: Clock;
  readonly random: Random;
  /** The writer of this process's commands. To wait for its running writes, and to leave out what it has written, saves work. */
  readonly documentWriter?: Pick<DocumentWriter, 'settled' | 'hasWritten'>;
  /** Receives the collections that lack events because their store has no room. */
  readonly stale?: Set<string>;
}

export interface ProjectorProgress {
  /** The last position whose documents are written; null at the start of the log. */
  readonly position: Position | null;
  /** Whether the last page reached the end of the log. */
  readonly atHead: boolean;
  /** The recorded time of the last event that it passed; null before the first. */
  readonly lastEventAt: Date | null;
  /** The number of streams that it has quarantined. */
  readonly quarantined?: number;
}

/** While it catches up, the projector writes documents at the latest after this time. */
const writeMs = 1_000;

/**
 * Feeds one collection from the log until the signal aborts: folds the events of the view's streams into documents,
 * writes them under their guards, then moves the checkpoint. Any number of projectors may feed one collection: a
 * document takes revision r + 1 and no other, so all end in the same documents. Retries while a store is unavailable.
 * @throws StoreDamaged, or UndecodableEvent when too many streams are quarantined: the projection must stop
 */
export async function runProjector(
  deps: ProjectorDeps,
  { projection, collection }: ActiveCollection,
  options: {
    readonly signal: AbortSignal;
    readonly onProgress: (progress: ProjectorProgress) => void;
    readonly onRetry: (error: Error, attempt: number) => void;
    /** Receives the position up to which the projector has read the log. */
    readonly onRead?: (position: Position | null) => void;
    readonly onQuarantined?: (stream: Quarantined) => void;
  },
): Promise<void> {
  const { readModelStore, clock, documentWriter } = deps;
  const { signal, onProgress, onRetry } = options;
  const load = () => loadCheckpoint(readModelStore, collection);
  const loadOwnCheckpoint = makeLoadOwnCheckpoint({ ...deps, load }, `the view ${collection}`);
  // Kept across subscriptions, so that a series of short ones saves checkpoints too.
  const saver = makeCheckpointSaver(deps, collection);
  const quarantine = quarantineOf(readModelStore, collection, (stream) => options.onQuarantined?.(stream));
  const nowMs = (): number => clock.steadyMs();
  await followLog(deps, { signal, begin, onRetry });

  /** Follows the log from the durable checkpoint, without cached documents: after an error they may be stale. */
  async function begin(_: AbortController, progressed: () => void): Promise<ConsumerRun> {
    const { checkpoint } = await loadOwnCheckpoint();
    saver.begin(checkpoint);
    const isWritten = (id: string, revision: bigint): boolean =>
      documentWriter?.hasWritten(collection, id, revision) === true;
    const pending = makePending({ ...deps, quarantine, isWritten }, { projection, collection });
    for (const record of await quarantine.load()) {
      await quarantine.takeBack(record, async () => {
        await pending.writeWholeStream(record.id);
        return true;
      });
    }
    /** The pages whose documents are folded, and those whose documents are written. */
    const passed: { folded: PassedPages | null; written: PassedPages | null } = {
      folded: null,
      written: null,
    };
    const after = checkpoint?.position ?? null;
    let writtenAtMs = nowMs();
    let reachedHead = false;
    let isWriting = false;
    // The write of a batch overlaps the read and fold of the next one.
    let writing: Promise<void> = Promise.resolve();
    options.onRead?.(after);
    onProgress({ position: after, atHead: false, lastEventAt: null, quarantined: quarantine.count() });
    return {
      after,
      take: takePage,
      save: saveIfDue,
      end: async () => {
        await writing;
        // The documents of earlier pages are valid.
        if (passed.folded !== null) await writePending(passed.folded);
        await saveCheckpoint();
      },
    };

    async function takePage(page: LogPage): Promise<void> {
      options.onRead?.(page.cursor);
      // At the head, commands write documents themselves: these need no fold and no second write.
      // A total shares the commit of the documents.
      if (page.atHead && !isTally(projection)) await documentWriter?.settled(streamsOf(page));
      await pending.fold(page);
      const folded = passedWith(passed.folded, page);
      passed.folded = folded;
      const isDue = pending.batches() >= 1 || nowMs() - writtenAtMs >= writeMs;
      // While a write runs, the projector folds on, up to a second batch.
      if (!page.atHead && (!isDue || (isWriting && pending.batches() < 2))) return;
      await writing;
      writing = writePending(folded);
      // The next batch awaits it. Until then this handler prevents an unhandled rejection.
      writing.catch(() => undefined);
      if (!page.atHead) return;
      await writing;
      // At the head, commands write documents before the projector does: those in memory would be stale.
      pending.forgetWritten();
    }

    async function writePending(pages: PassedPages): Promise<void> {
      if (pages === passed.written) return;
      writtenAtMs = nowMs();
      const isChanged = pending.size() > 0;
      if (isChanged) saver.changed();
      isWriting = true;
      await pending.take()();
      isWriting = false;
      const hasCaughtUp = pages.atHead && !reachedHead;
      reachedHead ||= pages.atHead;
      passed.written = pages;
      onProgress({
        position: pages.position,
        atHead: pages.atHead,
        lastEventAt: pages.lastEvent?.recordedAt ?? null,
        quarantined: quarantine.count(),
      });
      progressed();
      // The other processes check by a checkpoint that their log is the same one.
      if (hasCaughtUp) await saveCheckpoint();
      else if (!pages.atHead || isChanged) await saveIfDue();
    }

    async function saveIfDue(): Promise<boolean> {
      const isWritten = passed.written === passed.folded;
      return passed.written === null
        ? isWritten
        : (await saver.saveIfDue(passed.written, passed.written)) && isWritten;
    }

    async function saveCheckpoint(): Promise<void> {
      if (passed.written !== null) await saver.save(passed.written);
    }
  }
}

function streamsOf({ events }: LogPage): readonly string[] {
  return events.map(({ stream }) => stream);
}

interface PassedPages {
  readonly position: Position | null;
  readonly atHead: boolean;
  /** The last event of this subscription; null before the first. */
  readonly lastEvent: LogEvent | null;
}

function passedWith(before: PassedPages | null, { cursor, atHead, events }: LogPage): PassedPages {
  return { position: cursor, atHead, lastEvent: events.at(-1) ?? before?.lastEvent ?? null };
}

/** Returns whether a position is at or past a goal: positions of one log sort as bytes. */
export function isReached(position: Position | null, goal: Position | null): boolean {
  if (goal === null) return true;
  return position !== null && position >= goal;
}
