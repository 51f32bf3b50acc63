import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { packageFile } from '../../../package-files.js';
import { errorOf, type FileFailure } from '../files/failures.js';
import type { ScrubReply } from './scrub-thread.js';

const firstMs = 1_000;
const pauseMs = 5;
/** How many times as long as a slice the pause after it is, while the main thread has no idle time. */
const pauseTimes = 4;
const roundMs = 24 * 3_600_000;
const retryMs = 60_000;

/**
 * Checks read-models.db after the start and once a day, in a thread for each round, at about 7,000 documents a second on an
 * idle machine. A pause follows each slice. It grows with the load of the main thread: a busy process checks a fifth of the time.
 * @returns a function that ends the checks
 */
export function startScrub(path: string, onDamage: (damage: Error) => void): () => Promise<void> {
  const ending = new AbortController();
  const { signal } = ending;
  const running = run().catch((error: unknown) => {
    // An abort ends the waits.
    if (!signal.aborted) throw error;
  });
  return () => {
    ending.abort();
    return running;
  };

  async function run(): Promise<void> {
    await pause(firstMs);
    for (;;) {
      // A thread that cannot start or open the file, for example without a free descriptor, is no damage.
      const failure = await scrubOnce(path, signal).catch(() => undefined);
      if (failure?.kind === 'damaged') {
        onDamage(errorOf(failure));
        return;
      }
      await pause(failure === null ? roundMs : retryMs);
    }
  }

  function pause(ms: number): Promise<void> {
    return setTimeout(ms, undefined, { signal, ref: false });
  }
}

/** Checks the file once. Returns why the round ended early; null when the file is whole. An abort rejects. */
export async function scrubOnce(path: string, signal: AbortSignal): Promise<FileFailure | null> {
  const worker = new Worker(packageFile('dist/scrub-thread.js'), { workerData: path });
  try {
    for (;;) {
      const [beganMs, before] = [performance.now(), performance.eventLoopUtilization()];
      worker.postMessage('slice');
      // An abort takes effect after the slice: libsql ends the process when its thread is terminated within a call.
      const [reply] = (await once(worker, 'message')) as [ScrubReply];
      // The check keeps no process alive. Each message listener undoes `unref`.
      worker.unref();
      if (reply !== 'more') return reply === 'whole' ? null : reply;
      const { utilization } = performance.eventLoopUtilization(before);
      const loadMs = (performance.now() - beganMs) * utilization * pauseTimes;
      await setTimeout(pauseMs + loadMs, undefined, { signal, ref: false });
    }
  } finally {
    await worker.terminate();
  }
}
