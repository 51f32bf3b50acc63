import { readFile } from 'node:fs/promises';

/** Returns how long the main thread of a process was ready to run and had no core (Linux, Documentation/scheduler/sched-stats.rst). */
export async function queuedMsOf(pid: number): Promise<number> {
  const [, queuedNs] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(queuedNs) / 1e6;
}
