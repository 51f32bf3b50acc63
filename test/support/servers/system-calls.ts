import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** The reason for which no system calls can be counted; null where strace works. */
export const straceMissing: string | null =
  spawnSync('strace', ['-f', '-o', '/dev/null', 'true']).status === 0
    ? null
    : 'strace is missing or forbidden';

/** What a process asked of its disk: calls by the name of their file. */
export interface DiskCalls {
  readonly fsyncs: number;
  /** Writes at an offset. SQLite writes a page of its log by two: the frame's header, and the page. */
  readonly writes: number;
  /** Reads at an offset by the main thread, which answers no other request meanwhile. */
  readonly mainReads: number;
  readonly fsyncsByFile: Readonly<Record<string, number>>;
  readonly writesByFile: Readonly<Record<string, number>>;
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
    writesByFile,
  };
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
