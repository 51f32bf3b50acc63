import { getPriority } from 'node:os';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { makeHashPool } from '../../../src/security/passwords/hash-pool.js';

const input = { password: Buffer.from('a'), salt: Buffer.alloc(16), N: 2, r: 1, p: 1, length: 32 };

/** The nice values of the threads of this process (proc_pid_stat(5), field 19). */
function niceValues(): readonly number[] {
  return readdirSync('/proc/self/task').flatMap((thread) => {
    try {
      const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
      return [Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16])];
    } catch (error) {
      // A thread of another test has ended since the folder was read.
      if (error instanceof Error && 'code' in error && /^(ENOENT|ESRCH)$/.test(String(error.code))) return [];
      throw error;
    }
  });
}

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux(
  'Threads that hash have a lower priority than the process, and the pool reports it once',
  async (t) => {
    const reports: string[] = [];
    const pool = makeHashPool({
      threads: 2,
      // No other test of the process uses this figure.
      nice: 7,
      timeLimitMs: 60_000,
      onPriority: (priority) => reports.push(priority),
    });
    t.teardown(() => pool.close());
    const before = getPriority();
    t.false(niceValues().includes(before + 7));
    await Promise.all(Array.from({ length: 6 }, () => pool.hash(input)));
    t.true(niceValues().includes(before + 7));
    t.is(getPriority(), before, 'the thread that serves requests keeps its priority');
    t.deepEqual(reports, ['lowered by 7']);
  },
);
