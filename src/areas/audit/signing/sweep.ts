import type { Clock } from '../../../kit/time/clock.js';
import { StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import type { ShortLog } from '../../../event-sourcing/feeding/read-log.js';
import { LogEndsEarly } from '../history/log-resources.js';
import { type Hash, rootOf } from '../tree/merkle.js';
import type { Pages } from './pages.js';
import type { StoredLog } from './sequencer.js';
import { tileWidth } from '../tree/tiles.js';

/** The progress of the sweep, which reads the whole log again and compares it with the tiles. */
export interface SweepProgress {
  /** Events that the running pass has compared, and those that it will compare; null between two passes. */
  readonly running: { readonly done: number; readonly of: number } | null;
  /** The end of the last whole pass; null before the first in this process. */
  readonly finishedAt: Date | null;
  /** The events of the last whole pass. */
  readonly size: number;
}

export type Sweep = ReturnType<typeof makeSweep>;

const dayMs = 24 * 60 * 60 * 1_000;
/** After a failure of a store the sweep begins again this much later. */
const retryMs = 10 * 60 * 1_000;
/** The process may begin to sequence at any time. */
const lookMs = 1_000;
/** The pace of the sweep. A core compares five to six times as many events. */
const eventsPerSecond = 7_000;

/** Makes the sweep: it finds a store that was changed before an auditor does. src/areas/audit/signing/README.md#sweep */
export function makeSweep(deps: {
  readonly pages: Pages;
  readonly clock: Clock;
  readonly stored: () => StoredLog | null;
  readonly shortLog: ShortLog;
  readonly onRetry: (error: Error, attempt: number) => void;
  readonly onDefect: (error: unknown) => void;
}) {
  const { pages, clock, stored, shortLog, onRetry, onDefect } = deps;
  const nothing: SweepProgress = { running: null, finishedAt: null, size: 0 };
  let progress = nothing;
  /** Undefined before the end of the first pass. */
  let found: string | null | undefined;
  return {
    /** Sweeps at the start and once a day, while this process sequences: until the signal aborts. It never fails. */
    run: async (signal: AbortSignal) => {
      let dueAtMs = -Infinity;
      while (!signal.aborted) {
        if (stored()?.atHead === true && clock.steadyMs() >= dueAtMs)
          dueAtMs = (await passOrRetry(signal)) + clock.steadyMs();
        // An abort ends the loop.
        await clock.sleep(lookMs, signal).catch(() => undefined);
      }
      // Another process sweeps from now on.
      [found, progress] = [undefined, nothing];
    },
    pass,
    progress: () => progress,
    /** Returns what the last pass of this run has found. */
    checked: () => new Map(found === undefined ? [] : [['sweep', found]]),
  };

  /** @returns the wait until the next pass */
  async function passOrRetry(signal: AbortSignal): Promise<number> {
    try {
      await pass(signal);
      return dayMs;
    } catch (error) {
      onRetry(error as StoreUnavailable, 0);
      return retryMs;
    }
  }

  /** Sweeps once. Returns the first damage, as a sentence; null when all is right. @throws StoreUnavailable */
  async function pass(signal: AbortSignal): Promise<string | null> {
    const size = stored()?.size ?? 0;
    try {
      const problem = await compareAll(size, signal).catch(problemOf);
      if (signal.aborted) return problem;
      shortLog.whole();
      found = problem;
      progress = { running: null, finishedAt: clock.now(), size };
      return problem;
    } finally {
      progress = { ...progress, running: null };
    }
  }

  /** Every failure but that of a store is damage, or hides some. @throws StoreUnavailable */
  function problemOf(error: unknown): string {
    if (error instanceof LogEndsEarly && shortLog.isLasting()) return error.message;
    if (error instanceof StoreUnavailable) throw error;
    onDefect(error);
    return `the sweep failed: ${error instanceof Error ? error.name : typeof error}`;
  }

  async function compareAll(size: number, signal: AbortSignal): Promise<string | null> {
    /** The roots of full tiles, by level: the hashes of the tile above. */
    const above: Hash[][] = [];
    for (let index = 0; index * tileWidth < size && !signal.aborted; index += 1) {
      const startedMs = clock.steadyMs();
      const width = Math.min(tileWidth, size - index * tileWidth);
      const { hashes, problem } = await pages.check(index, width);
      const damage = problem ?? (await compareAbove(hashes, { level: 0, index }, above));
      if (damage !== null) return damage;
      progress = { ...progress, running: { done: index * tileWidth + width, of: size } };
      const restMs = startedMs + (width / eventsPerSecond) * 1_000 - clock.steadyMs();
      // An abort ends the loop.
      await clock.sleep(Math.max(0, restMs), signal).catch(() => undefined);
    }
    if (signal.aborted) return null;
    for (const [below, hashes] of above.entries()) {
      const nodes = Math.floor(size / tileWidth ** (below + 1));
      const name = { level: below + 1, index: Math.floor(nodes / tileWidth) };
      const problem = await pages.compareTile(hashes, name);
      if (problem !== null) return problem;
    }
    return null;
  }

  /** Compares the tiles above a full tile that it fills. */
  async function compareAbove(
    hashes: readonly Hash[],
    { level, index }: { readonly level: number; readonly index: number },
    above: Hash[][],
  ): Promise<string | null> {
    if (hashes.length < tileWidth) return null;
    const parents = (above[level] ??= []);
    parents.push(rootOf(hashes));
    if (parents.length < tileWidth) return null;
    above[level] = [];
    const name = { level: level + 1, index: Math.floor(index / tileWidth) };
    return (await pages.compareTile(parents, name)) ?? (await compareAbove(parents, name, above));
  }
}
