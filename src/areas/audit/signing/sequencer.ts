import { makeLoadOwnCheckpoint } from '../../../event-sourcing/feeding/checkpoints.js';
import { followLog, type ConsumerRun } from '../../../event-sourcing/feeding/follow-log.js';
import { makeShortLog } from '../../../event-sourcing/feeding/read-log.js';
import type { Clock, Random } from '../../../kit/time/clock.js';
import type { LogEvent, Position } from '../../../event-sourcing/ports/domain-event.js';
import { StoreDamaged } from '../../../event-sourcing/ports/errors.js';
import type { EventStore } from '../../../event-sourcing/ports/event-store.js';
import { NotCanonical } from '../tree/canonical-json.js';
import {
  type LogAccumulator,
  makeLogAccumulator,
  type SequencedLog,
  type StoredEnd,
} from '../tree/log-accumulator.js';
import { TileDiffers, TilesDamaged, type TileStore } from '../tree/tile-store.js';
import { LogEndsEarly } from '../history/log-resources.js';
import type { ProjectOf } from '../history/project-of.js';
import { edgeOf, tileWidth } from '../tree/tiles.js';

/** The sequenced log whose tiles are stored. */
export interface StoredLog extends SequencedLog {
  readonly logId: string;
  /** Whether no event followed when the tiles were written. */
  readonly atHead: boolean;
}

/** Why the sequencing does not go on: a sentence with the event, without data of the event. */
interface SequencerProblem {
  readonly reason: string;
  readonly kind: 'unreadable-event' | 'replaced-log' | 'damaged-tiles' | 'tile-differs' | 'defect';
}

export type Sequencer = ReturnType<typeof makeSequencer>;

/** An event without JSON: the type that the adapter of EventStoreDB gives it. */
const unreadablePrefix = 'unreadable:';
/** After so many leaves, other work of the process gets its turn. */
const leavesPerTurn = 64;
/** Full tiles that are written in one call while the sequencer catches up. */
const tilesPerWrite = 64;
/** A stored tile differs until an operator acts. Each attempt may read the whole log. */
const differsMs = 10 * 60 * 1_000;

/**
 * Makes the sequencer of one process. One process sequences for all. Two at once do no harm, because the guards of the
 * documents make their writes one: src/areas/audit/README.md#tiles.
 */
export function makeSequencer(deps: {
  readonly eventStore: EventStore;
  readonly tiles: TileStore;
  readonly projectOf: ProjectOf;
  readonly clock: Clock;
  readonly random: Random;
  readonly onRetry: (error: Error, attempt: number) => void;
  readonly onProblem: (problem: SequencerProblem) => void;
}) {
  const { eventStore, tiles, projectOf, clock } = deps;
  let stored: StoredLog | null = null;
  let problem: SequencerProblem | null = null;
  /** Ends the running subscription. */
  let running: AbortController | null = null;
  let fromStart = false;
  let comparedAll = false;
  const shortLog = makeShortLog({ clock, waitMs: eventStore.shortLogMs });
  const loadOwnCheckpoint = makeLoadOwnCheckpoint(
    { eventStore, clock, load: async () => (fromStart ? null : tiles.readHead()) },
    'the audit log',
  );
  return {
    /** Follows the log until the signal aborts. It never fails: problems are in `problem`. Then it knows nothing. */
    run: async (signal: AbortSignal) => {
      await followLog(deps, { signal, begin, onRetry: deps.onRetry, waitMsAfter });
      // Another process sequences from now on.
      [stored, problem, comparedAll] = [null, null, false];
    },
    /** Returns the stored log; null until the first tiles are written or read. */
    stored: () => stored,
    problem: () => problem,
    /**
     * Returns the findings of the running sequencing: of the check `log` since it has read the log, and of `tiles` when it has
     * compared all stored tiles with the log, or met one that differs.
     */
    checked: () => {
      const checked = new Map<string, string | null>();
      if (stored !== null || problem !== null)
        checked.set('log', problem?.kind === 'replaced-log' ? problem.reason : null);
      if (problem?.kind === 'tile-differs') checked.set('tiles', problem.reason);
      else if (comparedAll) checked.set('tiles', null);
      return checked;
    },
    /** Writes all tiles again from the first event. */
    startOver: () => {
      // Reads miss tiles until the rebuild has written them. Each would begin it again.
      if (fromStart) return;
      fromStart = true;
      running?.abort();
    },
    /** Returns whether all tiles are written again, or will be at the next run. */
    isStartingOver: () => fromStart,
  };

  /** @returns the wait after a problem that only an operator ends */
  function waitMsAfter(error: unknown): number | null {
    // A differing tile stays a finding until all tiles were compared.
    if (error instanceof TileDiffers) [comparedAll, fromStart] = [false, true];
    report(problemOf(error));
    return problem?.kind === 'tile-differs' ? differsMs : null;
  }

  function report(found: SequencerProblem): void {
    if (problem?.reason !== found.reason) deps.onProblem(found);
    problem = found;
  }

  async function begin(ending: AbortController, progressed: () => void): Promise<ConsumerRun> {
    running = ending;
    const { logId, checkpoint } = await loadOwnCheckpoint();
    await tiles.ensure();
    const accumulator = makeLogAccumulator(logId, checkpoint === null ? null : await readEnd());
    let atHead = false;
    let isDirty = false;
    if (accumulator.position() !== null) pass({ ...accumulator.log(), logId, atHead });
    let writing: Promise<void> = Promise.resolve();
    return {
      after: accumulator.position(),
      take: async (page) => {
        await takeAll(page.events);
        if (isEnding()) return;
        // The events could be read, also one that stopped an earlier attempt.
        if (problem?.kind !== 'tile-differs') problem = null;
        isDirty ||= atHead !== page.atHead;
        atHead = page.atHead;
        // While a batch is written, the sequencer folds on, up to a second batch.
        if (accumulator.waiting() >= tilesPerWrite) await flush();
      },
      save: () => flush().then(() => !isDirty),
      // The tiles are valid, for any end of the subscription.
      end: flush,
    };

    async function takeAll(events: readonly LogEvent[]): Promise<void> {
      for (const [offset, event] of events.entries()) {
        await take(accumulator, event);
        isDirty = true;
        if (offset % leavesPerTurn === leavesPerTurn - 1) await new Promise(setImmediate);
        if (isEnding()) return;
      }
    }

    function isEnding(): boolean {
      return ending.signal.aborted;
    }

    /** Writes what has changed, after the write before. After a failure nothing is written: a head must not cover lost tiles. */
    function flush(): Promise<void> {
      writing = writing.then(writeOut);
      return writing;
    }

    async function writeOut(): Promise<void> {
      if (!isDirty) return;
      isDirty = false;
      const [log, head, isAtHead] = [accumulator.log(), accumulator.head(), atHead];
      const changed = accumulator.takeTiles();
      if (changed.length > 0) await tiles.writeTiles(changed);
      if (changed.length > 0 && head !== null) await tiles.writeHead(head);
      pass({ ...log, logId, atHead: isAtHead });
      if (checkpoint === null && isAtHead) [comparedAll, fromStart, problem] = [true, false, null];
      progressed();
    }
  }

  /** While all tiles are written again, the tree that was stored before still serves, or that of another process. */
  function pass(log: StoredLog): void {
    const isWhole = stored === null ? !fromStart || log.atHead : log.size >= stored.size;
    if (isWhole) stored = log;
  }

  async function take(accumulator: LogAccumulator, event: LogEvent): Promise<void> {
    if (event.type.startsWith(unreadablePrefix)) throw new UnreadableLeaf(event, 'is not JSON');
    const project = await projectOf(event);
    try {
      accumulator.add(event, project);
    } catch (error) {
      if (error instanceof NotCanonical)
        throw new UnreadableLeaf(event, `has no canonical form: ${error.message}`);
      throw error;
    }
  }

  /** Reads the end of the stored log, and the events of its partial tile. */
  async function readEnd(): Promise<StoredEnd | null> {
    const head = await tiles.readHead();
    if (head === null) return null;
    const wanted = edgeOf(head.size);
    const found = await tiles.readTiles(wanted);
    const edge = wanted.flatMap(({ level, index, width }) => {
      const tile = found.find((candidate) => candidate.level === level && candidate.index === index);
      return tile === undefined || tile.hashes.length < width
        ? []
        : [{ ...tile, hashes: tile.hashes.slice(0, width) }];
    });
    // Tiles that were deleted are written again from the first event.
    if (edge.length < wanted.length) return null;
    const after = edge.find(({ level }) => level === 0)?.range?.after ?? null;
    const width = head.size % tileWidth;
    const events = width === 0 ? [] : await readEvents(after, width);
    return { head, edge, events };
  }

  async function readEvents(after: Position | null, count: number): Promise<StoredEnd['events']> {
    const events: { readonly event: LogEvent; readonly project: string | null }[] = [];
    let cursor = after;
    while (events.length < count) {
      const page = await eventStore.readAll({ after: cursor, limit: count - events.length });
      for (const event of page.events) events.push({ event, project: await projectOf(event) });
      if (page.atHead || page.cursor === cursor) break;
      cursor = page.cursor;
    }
    if (events.length >= count) shortLog.whole();
    // A filter without all terms of its tile would hide events from searches. A log that stays short is a contradiction.
    else if (!shortLog.isLasting()) throw new LogEndsEarly('the log ends before the events of a tile');
    return events.slice(0, count);
  }
}

/** An event has no leaf. Its payload is not in the sentence. */
class UnreadableLeaf extends Error {
  override readonly name = 'UnreadableLeaf';
  constructor({ stream, revision, position }: LogEvent, why: string) {
    super(`the event at revision ${revision} of the stream ${stream} (position ${position}) ${why}`);
  }
}

function problemOf(error: unknown): SequencerProblem {
  if (error instanceof UnreadableLeaf) return { kind: 'unreadable-event', reason: error.message };
  if (error instanceof TileDiffers) return { kind: 'tile-differs', reason: error.message };
  if (error instanceof TilesDamaged) return { kind: 'damaged-tiles', reason: error.message };
  if (error instanceof StoreDamaged) return { kind: 'replaced-log', reason: error.message };
  return {
    kind: 'defect',
    reason: `the sequencing failed: ${error instanceof Error ? error.name : typeof error}`,
  };
}
