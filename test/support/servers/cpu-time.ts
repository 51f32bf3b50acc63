import { readFile, readdir } from 'node:fs/promises';

/** `USER_HZ` of Linux: the ticks of a second in `/proc`. */
const ticksPerSecond = 100;

/** Reads the fields of a `stat` file from the state on (proc(5)); null for a process that has ended, or without `/proc`. */
async function fieldsOf(path: string): Promise<readonly string[] | null> {
  const stat = await readFile(`${path}/stat`, 'utf8').catch(() => null);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

/** Returns the CPU time that all threads of a process have had, in ms; 0 for a process that has ended, or without `/proc`. */
export async function cpuMsOf({ pid }: { readonly pid: number }): Promise<number> {
  const fields = await fieldsOf(`/proc/${pid}`);
  return fields === null ? 0 : ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1_000;
}

/** Tells whether a thread of the process has a core, waits for one, or waits for a disk. */
export async function isRunnable({ pid }: { readonly pid: number }): Promise<boolean> {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => []);
  const states = await Promise.all(threads.map((thread) => fieldsOf(`/proc/${pid}/task/${thread}`)));
  return states.some((fields) => fields?.[0] === 'R' || fields?.[0] === 'D');
}

/** Returns the CPU time of the processes of a group, those that have ended included, in ms; 0 without `/proc`. */
export async function cpuMsOfGroup(group: number): Promise<number> {
  const processes = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const fields = await Promise.all(processes.map((name) => fieldsOf(`/proc/${name}`)));
  // The fields after the state: 2 the group, 11 to 14 the ticks of the process and of its children that have ended.
  const ticks = fields.flatMap((one) => (Number(one?.[2]) === group ? (one?.slice(11, 15) ?? []) : []));
  return (ticks.reduce((sum, text) => sum + Number(text), 0) / ticksPerSecond) * 1_000;
}
