import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import test from 'ava';
import { Overloaded } from '../../../src/kit/semaphore.js';
import type { TryingClient } from '../../../src/security/guessing/guard.js';
import { makeHashPool } from '../../../src/security/passwords/hash-pool.js';
import { nativeScrypt } from '../../../src/security/passwords/scrypt.js';
import { givenDirectory } from '../../support/directories.js';

const input = { password: Buffer.from('a'), salt: Buffer.alloc(16), N: 2, r: 1, p: 1, length: 32 };

test('Known devices are hashed first, then clients with few recent hashes and known devices with many, then the rest, each client in its turn', async (t) => {
  // On a machine under load the thread may take longer to start than the time limit of production.
  const pool = makeHashPool({ threads: 1, queue: 60, timeLimitMs: 60_000 });
  t.teardown(() => pool.close());
  const order: string[] = [];
  const hash = async (by: TryingClient | null, name: string): Promise<void> => {
    t.deepEqual(await pool.hash(input, by), Buffer.from(nativeScrypt(input)));
    order.push(name);
  };
  const stranger = (ip: string): TryingClient => ({ ip, known: null });
  const device = (of: string, id: string): TryingClient => ({ ip: '192.0.2.1', known: { id, of } });
  // Given a client that hashes 20 times in a minute, from one address or from many of an IPv6 /64, and tokens of no share
  const ofIpv6 = (index: number) => stranger(`2001:db8:1:2::${index}`);
  const all = [
    ...Array.from({ length: 10 }, () => hash(stranger('198.51.100.1'), 'flood')),
    ...Array.from({ length: 10 }, (_, index) => hash(ofIpv6(index), 'ipv6')),
    hash(null, 'none'),
    hash(stranger('192.0.2.1'), 'stranger'),
    // And an account with more devices than hashes in a minute
    ...Array.from({ length: 8 }, (_, index) => hash(device('ada', `${index}`), 'ada')),
    hash(device('bob', 'phone'), 'bob'),
  ];
  await Promise.all(all);
  // Then one of the flood had begun
  const few = (name: string, count: number) => Array.from({ length: count }, () => name);
  t.deepEqual(order.slice(0, 7), ['flood', 'ada', 'bob', ...few('ada', 4)]);
  const lane = order.slice(7, 20);
  t.deepEqual(lane.slice(0, 4).toSorted(), ['ada', 'flood', 'ipv6', 'stranger']);
  t.deepEqual([...new Set(lane)].toSorted(), ['ada', 'flood', 'ipv6', 'stranger']);
  t.deepEqual(order.slice(20, 23).toSorted(), ['flood', 'ipv6', 'none']);
});

test('A hash that waits too long is refused and frees its permit, and one under way ends', async (t) => {
  const slow = { ...input, N: 2 ** 15, r: 8, p: 3 };
  const pool = makeHashPool({ threads: 1, queue: 2, timeLimitMs: 30 });
  const first = pool.hash(slow);
  const waiting = [pool.hash(slow), pool.hash(slow)];
  for (const one of waiting) await t.throwsAsync(() => one, { instanceOf: Overloaded });
  // Its time is over, too. Its thread lives, because a new one would cost more than the rest of the work.
  t.deepEqual(await first, Buffer.from(nativeScrypt(slow)));
  t.true(pool.hasRoom());
  t.deepEqual(await pool.hash(input), Buffer.from(nativeScrypt(input)));
  await pool.close();
  await t.throwsAsync(() => pool.hash(input), { instanceOf: Overloaded });
});

test('Parameters that scrypt refuses are a defect without the input in its message', async (t) => {
  const pool = makeHashPool({ threads: 1, timeLimitMs: 60_000 });
  t.teardown(() => pool.close());
  const error = await t.throwsAsync(pool.hash({ ...input, N: 3, password: Buffer.from('canary') }));
  t.regex(error.message, /^scrypt failed: ERR_CRYPTO/);
  t.deepEqual(await pool.hash(input), Buffer.from(nativeScrypt(input)));
});

test('A thread that cannot start refuses its hash, and the next hash gets a thread', async (t) => {
  // Given a process that has opened as many files as it may
  const pool = new URL('../../../src/security/passwords/hash-pool.js', import.meta.url).href;
  const script = `import { closeSync, openSync } from 'node:fs';
    import { makeHashPool } from '${pool}';
    const pool = makeHashPool({ threads: 1, timeLimitMs: 60_000 });
    const input = { password: Buffer.from('a'), salt: Buffer.alloc(16), N: 2, r: 1, p: 1, length: 32 };
    const open = [];
    try { for (;;) open.push(openSync('/dev/null')); } catch (error) { console.log(error.code); }
    // When it hashes, and again when it may open files
    await pool.hash(input).catch((error) => console.log(error.name));
    for (const file of open) closeSync(file);
    console.log((await pool.hash(input)).length, pool.load().running);
    await pool.close();`;
  const file = join(givenDirectory(t), 'hash.mjs');
  await writeFile(file, script);
  const limited = 'ulimit -n 64; exec "$0" "$1"';
  const { stdout } = await promisify(execFile)('bash', ['-c', limited, process.execPath, file]);
  // Then the first hash is refused, the second one is made, and the process goes on
  t.is(stdout, 'EMFILE\nOverloaded\n32 0\n');
});
