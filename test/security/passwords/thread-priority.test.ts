import { getPriority } from 'node:os';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'ava';
import { makeHashPool } from '../../../src/security/passwords/hash-pool.js';

const input = { password: Buffer.from('a'), salt: Buffer.alloc(16), N: 2, r: 1, p: 1, length: 32 };

/** The nice values of the threads of this process (proc_pid_stat(5), field 19). */
function niceValues(): readonly number[] {
  return readdirSync('/proc/self/task').map((thread) => {
    const stat = readFileSync(`/proc/self/task/${thread}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

const onLinux = process.platform === 'linux' ? test : test.skip;

onLinux(
  'Threads that hash have a lower priority than the process, and the pool reports it once',
  async (t) => {
    const reports: string[] = [];
    const pool = makeHashPool({
      threads: 2,
      nice: 10,
      timeLimitMs: 60_000,
      onPriority: (priority) => reports.push(priority),
    });
    t.teardown(() => pool.close());
    const before = getPriority();
    t.is(niceValues().filter((nice) => nice > before).length, 0);
    await Promise.all(Array.from({ length: 6 }, () => pool.hash(input)));
    t.true(niceValues().some((nice) => nice > before));
    t.is(getPriority(), before, 'the thread that serves requests keeps its priority');
    t.deepEqual(reports, ['lowered by 10']);
  },
);
