import { readFile, readdir, mkdtemp, rm } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

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

/** The reason for which no system calls can be counted; null where strace works. */
export const straceMissing: string | null =
  spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0
    ? null
    : 'strace is missing or forbidden';

/** What a process asked of its disk: calls by the name of their file. */
interface DiskCalls {
  readonly fsyncs: number;
  /** Writes at an offset. SQLite writes a page of its log by two: the frame's header, and the page. */
  readonly writes: number;
  /** Reads at an offset by the main thread, which answers no other request meanwhile. */
  readonly mainReads: number;
  readonly fsyncsByFile: Readonly<Record<string, number>>;
}

/** Counts the calls of a process and all its threads while work runs. Needs `straceMissing` to be null. */
export async function countDiskCalls(pid: number, work: () => Promise<unknown>): Promise<DiskCalls> {
  const folder = await mkdtemp(join(tmpdir(), 'stowage-strace-'));
  const file = join(folder, 'calls');
  const tracer = spawn(
    'strace',
    ['-f', '-y', '-e', 'trace=fsync,fdatasync,pwrite64,pwritev,pread64', '-o', file, '-p', String(pid)],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  try {
    // strace says so once it holds all threads.
    await once(tracer.stderr, 'data');
    await work();
    tracer.kill('SIGINT');
    await once(tracer, 'close');
    return parse(await readFile(file, 'utf8'), String(pid));
  } finally {
    tracer.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
}

/** A call that another thread interrupts has two lines; only the first one names the file. */
function parse(lines: string, main: string): DiskCalls {
  const fsyncsByFile: Record<string, number> = {};
  const writesByFile: Record<string, number> = {};
  const mainReadsByFile: Record<string, number> = {};
  for (const [, thread, call, path = ''] of lines.matchAll(/^(\d+) +(\w+)\(\d+<([^>]*)>/gm)) {
    if (call === 'pread64' && thread !== main) continue;
    const counts =
      call === 'pread64' ? mainReadsByFile : call?.endsWith('sync') ? fsyncsByFile : writesByFile;
    const name = basename(path);
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return {
    fsyncs: sum(fsyncsByFile),
    writes: sum(writesByFile),
    mainReads: sum(mainReadsByFile),
    fsyncsByFile,
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
