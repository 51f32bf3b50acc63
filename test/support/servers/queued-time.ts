import { readFile } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';

/**
 * Returns for how many milliseconds the main thread of a process was ready to run and had no core, since its start. 0 for
 * a process that has ended. Source: Linux, Documentation/scheduler/sched-stats.rst.
 */
export async function queuedMsOf({ pid }: { readonly pid: number }): Promise<number> {
  try {
    const [, queuedNs] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
    return Number(queuedNs) / 1e6;
  } catch (error) {
    // The process may end while the file is read.
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ESRCH'))
      return 0;
    throw error;
  }
}

/**
 * Starts to measure a time that this process and others take together. A busy machine delays each of them.
 * @param processes returns the processes that may have taken part; a process that began since counts from its start
 * @returns a function with the milliseconds so far, and those of them in which the process that waited the longest did so
 */
export async function measureMs(
  processes: () => readonly { readonly pid: number }[],
): Promise<() => Promise<{ readonly tookMs: number; readonly queuedMs: number }>> {
  const queued = async (): Promise<ReadonlyMap<number, number>> => {
    const all = [process, ...processes()];
    return new Map(await Promise.all(all.map(async (one) => [one.pid, await queuedMsOf(one)] as const)));
  };
  const before = await queued();
  const beganMs = performance.now();
  return async () => {
    const tookMs = performance.now() - beganMs;
    const since = [...(await queued())].map(([pid, ms]) => [pid, ms - (before.get(pid) ?? 0)] as const);
    const ofOthers = since.filter(([pid]) => pid !== process.pid).map(([, ms]) => ms);
    const own = since.find(([pid]) => pid === process.pid)?.[1] ?? 0;
    // Waits at the same time count once.
    return { tookMs, queuedMs: Math.max(own, ...ofOthers) };
  };
}

/**
 * Waits until the condition holds, for at most two minutes.
 * @returns the milliseconds, and the same without those in which this process or the other one waited for a core
 * @throws Error after two minutes, with the text
 */
export async function ownMsUntil(
  other: { readonly pid: number },
  condition: () => boolean,
  text: () => string,
): Promise<{ readonly tookMs: number; readonly ownMs: number }> {
  const measured = await measureMs(() => [other]);
  // The count of a process that ends is lost, so the last one stands for it.
  for (let queuedMs = 0; ;) {
    const now = await measured();
    queuedMs = Math.max(queuedMs, now.queuedMs);
    if (condition()) return { tookMs: now.tookMs, ownMs: Math.max(0, now.tookMs - queuedMs) };
    if (now.tookMs > giveUpMs) throw new Error(`the condition did not hold: ${text()}`);
    await wait(50);
  }
}

const giveUpMs = 120_000;
