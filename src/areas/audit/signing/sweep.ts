import type { Clock } from '../../../kit/clock.js';
import { StoreUnavailable } from '../../../event-sourcing/ports/errors.js';
import { entryOf } from '../tree/leaf.js';
import type { LogResources } from '../history/log-resources.js';
import { type Hash, leafHash, rootOf } from '../tree/merkle.js';
import type { StoredLog } from './sequencer.js';
import { tileWidth } from '../tree/tile-paths.js';
import type { TileStore } from '../tree/tile-store.js';

/** The progress of the sweep, which reads the whole log again and compares it with the tiles. */
export interface SweepProgress {
  /** Events that the running pass has compared, and those that it will compare; null between two passes. */
  readonly running: { readonly done: number; readonly of: number } | null;
  /** The end of the last whole pass; null before the first in this process. */
  readonly finishedAt: Date | null;
  /** The events of the last whole pass. */
  readonly size: number;
}

export interface Sweep {
  /** Sweeps once a day until the signal aborts, in the process that sequences. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  /** Sweeps once. Returns the first tile that differs, as a sentence; null when all are right. @throws StoreUnavailable */
  readonly pass: (signal: AbortSignal) => Promise<string | null>;
  readonly progress: () => SweepProgress;
  /** Returns what the last pass found, for the signer: see `Signer.pass`. */
  readonly found: () => ReadonlyMap<string, string | null>;
  /** Forgets what was found: another process sequences and sweeps now. */
  readonly forget: () => void;
}

const dayMs = 24 * 60 * 60 * 1_000;
/** After a failure of a store the sweep begins again this much later. */
const retryMs = 10 * 60 * 1_000;
/** The first pass waits until the start is over. */
const firstMs = 5 * 60 * 1_000;
/** The sweep works for a tenth of the time, so it takes a tenth of a core. */
const restFactor = 9;

/** Makes the sweep: it finds a store that was changed before an auditor does. docs/design.md#sweep */
export function makeSweep({
  tiles,
  resources,
  clock,
  stored,
  onMissing,
  onRetry,
}: {
  readonly tiles: Pick<TileStore, 'readTiles'>;
  readonly resources: Pick<LogResources, 'events'>;
  readonly clock: Clock;
  readonly stored: () => StoredLog | null;
  /** Runs when a tile is missing: the sequencer then writes all tiles again. */
  readonly onMissing: () => void;
  readonly onRetry: (error: Error, attempt: number) => void;
}): Sweep {
  let progress: SweepProgress = { running: null, finishedAt: null, size: 0 };
  let found: string | null = null;
  /** Counts the calls of `forget`: a pass that began before the last one finds nothing. */
  let forgotten = 0;

  return {
    run: async (signal) => {
      const isEnding = (): boolean => signal.aborted;
      for (let waitMs = firstMs; !isEnding();) {
        // An abort ends the loop.
        await clock.sleep(waitMs, signal).catch(() => undefined);
        if (isEnding()) return;
        // Another process sequences and sweeps. This one looks again later.
        waitMs = stored() === null ? retryMs : dayMs;
        if (stored() === null) continue;
        try {
          await pass(signal);
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) throw error;
          onRetry(error, 0);
          waitMs = retryMs;
        }
      }
    },
    pass,
    progress: () => progress,
    found: () => (progress.finishedAt === null && found === null ? new Map() : new Map([['sweep', found]])),
    forget: () => {
      forgotten += 1;
      [found, progress] = [null, { running: null, finishedAt: null, size: 0 }];
    },
  };

  async function pass(signal: AbortSignal): Promise<string | null> {
    const size = stored()?.size ?? 0;
    const began = forgotten;
    try {
      const problem = await compareAll(size, signal);
      if (signal.aborted || began !== forgotten) return problem;
      found = problem;
      progress = { running: null, finishedAt: clock.now(), size };
      return problem;
    } finally {
      progress = { ...progress, running: null };
    }
  }

  async function compareAll(size: number, signal: AbortSignal): Promise<string | null> {
    /** The roots of full tiles, by level: the hashes of the tile above. */
    const above: Hash[][] = [];
    for (let index = 0; index * tileWidth < size && !signal.aborted; index += 1) {
      const startedMs = performance.now();
      const width = Math.min(tileWidth, size - index * tileWidth);
      const hashes = (await resources.events(index, width)).map((event) => leafHash(entryOf(event)));
      const problem = await compareUp(hashes, { level: 0, index }, above);
      if (problem !== null) return problem;
      progress = { ...progress, running: { done: index * tileWidth + width, of: size } };
      await clock.sleep((performance.now() - startedMs) * restFactor, signal).catch(() => undefined);
    }
    for (const [below, hashes] of above.entries()) {
      const nodes = Math.floor(size / tileWidth ** (below + 1));
      const problem = await compareTile(hashes, { level: below + 1, index: Math.floor(nodes / tileWidth) });
      if (problem !== null) return problem;
    }
    return null;
  }

  /** Compares a tile and, when it fills them, the tiles above. */
  async function compareUp(
    hashes: readonly Hash[],
    name: { readonly level: number; readonly index: number },
    above: Hash[][],
  ): Promise<string | null> {
    const problem = await compareTile(hashes, name);
    if (problem !== null || hashes.length < tileWidth) return problem;
    const parents = (above[name.level] ??= []);
    parents.push(rootOf(hashes));
    if (parents.length < tileWidth) return null;
    above[name.level] = [];
    return compareUp(parents, { level: name.level + 1, index: Math.floor(name.index / tileWidth) }, above);
  }

  async function compareTile(
    hashes: readonly Hash[],
    name: { readonly level: number; readonly index: number },
  ): Promise<string | null> {
    if (hashes.length === 0) return null;
    // The cached tiles of a process prove nothing about the stored ones.
    const [tile] = await tiles.readTiles([name]);
    if (tile === undefined) {
      onMissing();
      throw new StoreUnavailable('a tile of the audit log is missing and is written again from the log');
    }
    const place = hashes.findIndex((hash, at) => tile.hashes[at]?.equals(hash) !== true);
    if (place < 0) return null;
    return name.level === 0
      ? `the event at index ${name.index * tileWidth + place} is not the one in the tile 0/${name.index}`
      : `the tile ${name.level}/${name.index} holds another hash at ${place} than the tiles below`;
  }
}
