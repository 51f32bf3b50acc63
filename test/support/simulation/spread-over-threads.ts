import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { z } from 'zod';

/** What a thread is to try: the numbers `first`, `first + step` … below `end`. */
export const threadShare = z.object({
  task: z.string(),
  first: z.number(),
  step: z.number(),
  end: z.number(),
  /** Decides everything random, together with the number. */
  seed: z.number(),
});
type ThreadShare = z.infer<typeof threadShare>;

/** What a thread reports at its end: how often it met what, and what is wrong, with how to repeat that alone. */
const threadReport = z.object({
  problem: z.string().nullable(),
  tally: z.record(z.string(), z.number()),
});
export type ThreadReport = z.infer<typeof threadReport>;

/** A machine may have more cores than memory for as many threads. */
const threadsMax = 16;

/**
 * Tries the numbers from 0 to `count` in as many threads as there are cores, until one finds something wrong.
 * @param script a module that tries the share in its `workerData`, and posts its report
 * @returns the first problem, and what all threads together met
 */
export async function spreadOverThreads(
  script: URL,
  { task, count, seed }: { readonly task: string; readonly count: number; readonly seed: number },
): Promise<ThreadReport> {
  const step = Math.min(availableParallelism(), threadsMax, count);
  const workers = Array.from(
    { length: step },
    (_, first) =>
      new Worker(script, { workerData: { task, first, step, end: count, seed } satisfies ThreadShare }),
  );
  const tally: Record<string, number> = {};
  let problem: string | null = null;
  const stopAll = () => Promise.all(workers.map((worker) => worker.terminate()));
  await Promise.all(
    workers.map(async (worker) => {
      const report = await reportOf(worker);
      // What stopped because another had found something has nothing to say.
      if (problem !== null || report === null) return;
      for (const [what, times] of Object.entries(report.tally)) tally[what] = (tally[what] ?? 0) + times;
      if (report.problem === null) return;
      problem = report.problem;
      await stopAll();
    }),
  ).finally(stopAll);
  return { problem, tally };
}

/** Null where the thread was stopped before it had one. */
function reportOf(worker: Worker): Promise<ThreadReport | null> {
  return new Promise((resolve, reject) => {
    worker.once('message', (message: unknown) => resolve(threadReport.parse(message)));
    worker.once('error', reject);
    worker.once('exit', () => resolve(null));
  });
}
