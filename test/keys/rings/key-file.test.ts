import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  readFileSync,
  readdirSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import test from 'ava';
import { KeyProblem } from '../../../src/keys/sealing/errors.js';
import { addKey, newKeyFile, promoteKey, retireKey, timesOf } from '../../../src/keys/rings/key-changes.js';
import {
  changeKeyFile,
  isOpenToOthers,
  readKeyFile,
  readOrMakeKeyFile,
  removeLeftovers,
} from '../../../src/keys/rings/key-file.js';
import { ensureKeyFile, loadKeys } from '../../../src/keys/rings/key-rings.js';
import { givenDirectory } from '../../support/directories.js';

test('A missing key file is made for this user alone and read the next time', (t) => {
  const directory = join(givenDirectory(t), 'data');
  const path = join(directory, 'keys.json');
  const made = readOrMakeKeyFile(path, randomBytes);
  t.is(statSync(path).mode & 0o777, 0o600);
  t.is(statSync(directory).mode & 0o777, 0o700);
  t.deepEqual(readdirSync(directory), ['keys.json']);
  t.deepEqual(readOrMakeKeyFile(path, randomBytes), made);
  const keys = loadKeys({ settings: {}, keyFile: path });
  t.is(keys.jwt.active().key.length, 32);
  t.is(keys.indexKey.length, 32);
});

test('A change by root leaves the file to its owner, who reads it at the next start', (t) => {
  // Only root may give a file away.
  const owner = process.getuid?.() === 0 ? 1 : process.getuid?.();
  const path = join(givenDirectory(t), 'keys.json');
  readOrMakeKeyFile(path, randomBytes);
  if (owner === 1) chownSync(path, 1, 1);
  changeKeyFile(path, (file) => file);
  t.is(statSync(path).uid, owner ?? 0);
  t.is(statSync(path).mode & 0o777, 0o600);
});

test('Several threads that make the key file at once all have the keys of one winner', async (t) => {
  const directory = givenDirectory(t);
  const racers = await Promise.all(
    Array.from({ length: 6 }, async () => {
      const gate = new SharedArrayBuffer(4);
      const path = join(directory, 'keys.json');
      const worker = new Worker(new URL('./key-file-racer.js', import.meta.url), {
        workerData: { path, gate },
      });
      await once(worker, 'message');
      return { worker, gate: new Int32Array(gate) };
    }),
  );
  const answers = racers.map(async ({ worker }) => {
    const [file] = (await once(worker, 'message')) as [unknown];
    return JSON.stringify(file);
  });
  for (const { gate } of racers) {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  }
  const files = await Promise.all(answers);
  t.is(new Set(files).size, 1);
  t.deepEqual(readdirSync(directory), ['keys.json']);
  t.deepEqual(JSON.parse(readFileSync(join(directory, 'keys.json'), 'utf8')), JSON.parse(files[0] ?? ''));
});

test('A key file that other users may read is refused with a remedy', (t) => {
  const path = join(givenDirectory(t), 'keys.json');
  readOrMakeKeyFile(path, randomBytes);
  for (const mode of [0o640, 0o604, 0o660, 0o601]) {
    chmodSync(path, mode);
    const error = t.throws(() => readKeyFile(path), { instanceOf: KeyProblem });
    t.true(error.message.includes(`(mode ${mode.toString(8)}); run chmod 600 on it`));
  }
});

test('A key file of root that the group of the process may read is taken, as Kubernetes mounts a secret', (t) => {
  t.false(isOpenToOthers({ uid: 0, mode: 0o100_440 }, 1_000));
  for (const mode of [0o460, 0o444, 0o441]) t.true(isOpenToOthers({ uid: 0, mode }, 1_000), mode.toString(8));
  // and a file of this user, or of another one, that the group may read is open to others
  for (const [uid, user] of [
    [0, 0],
    [1_000, 1_000],
    [1_001, 1_000],
  ] as const)
    t.true(isOpenToOthers({ uid, mode: 0o440 }, user));
});

test('A damaged key file is refused, and no part of it is shown', (t) => {
  const path = join(givenDirectory(t), 'keys.json');
  const text = JSON.stringify(newKeyFile(randomBytes));
  const damages = [
    text.slice(0, 100),
    '[]',
    text.replace('"format":1', '"format":2'),
    text.replace('jwt', 'jot'),
  ];
  for (const damaged of damages) {
    writeFileSync(path, damaged, { mode: 0o600 });
    const { message } = t.throws(() => readOrMakeKeyFile(path, randomBytes), { instanceOf: KeyProblem });
    t.regex(message, /restore it from a backup$/);
    t.false([...text.matchAll(/[A-Za-z0-9_-]{43}/g)].some(([key]) => message.includes(key)));
    t.is(readFileSync(path, 'utf8'), damaged, 'the file is unchanged');
  }
});

test('A setting takes precedence over the key file, ring by ring', (t) => {
  const path = join(givenDirectory(t), 'keys.json');
  const master = `m1:${randomBytes(32).toString('base64url')}`;
  ensureKeyFile({ path, settings: { master }, hasData: false, randomBytes });
  const keys = loadKeys({ settings: { master }, keyFile: path });
  t.is(keys.master.active().kid, 'm1');
  t.is(keys.master.all().length, 1);
  t.is(keys.jwt.active().kid, readKeyFile(path)?.rings.jwt[0]?.split(':')[0] ?? 'none');
});

test('A key file that is missing beside data is never replaced by a new one', (t) => {
  const directory = givenDirectory(t);
  const path = join(directory, 'keys.json');
  const refused = {
    instanceOf: KeyProblem,
    message:
      /keys\.json is missing.*restore it from a backup, or set the keys .*: JWT_KEYS, .*INDEX_KEY\. .*stowage keys init/,
  };
  t.throws(() => ensureKeyFile({ path, settings: {}, hasData: true, randomBytes }), refused);
  t.throws(() => loadKeys({ settings: {}, keyFile: path }), refused);
  t.deepEqual(readdirSync(directory), []);
});

test('No key file is made when every key is set', (t) => {
  const directory = givenDirectory(t);
  const path = join(directory, 'keys.json');
  const list = `k1:${randomBytes(32).toString('base64url')}`;
  const index = randomBytes(32).toString('base64url');
  const rings = { jwt: list, master: list, refresh: list, code: list, pepper: list, audit: list };
  ensureKeyFile({ path, settings: { ...rings, index }, hasData: false, randomBytes });
  t.deepEqual(
    loadKeys({ settings: { ...rings, index }, keyFile: path }).indexKey.toString('base64url'),
    index,
  );
  t.deepEqual(readdirSync(directory), []);
});

const [addedAt, promotedAt] = [new Date('2026-01-02T03:04:05.000Z'), new Date('2026-01-02T03:06:00.000Z')];

test('A new key is added without being active, then promoted, and the old one is retired', (t) => {
  const path = join(givenDirectory(t), 'keys.json');
  const before = readOrMakeKeyFile(path, randomBytes);
  const old = before.rings.master[0]?.split(':')[0] ?? '';
  let kid = '';
  const added = changeKeyFile(path, (file) => {
    const result = addKey(file, 'master', { randomBytes, now: addedAt });
    kid = result.kid;
    return result.file;
  });
  t.is(added.rings.master[0], before.rings.master[0]);
  t.is(added.rings.master.length, 2);
  t.deepEqual(timesOf(added, 'master', kid), { added_at: addedAt.toISOString() });

  const promoted = changeKeyFile(path, (file) => promoteKey(file, 'master', kid, promotedAt));
  const keys = loadKeys({ settings: {}, keyFile: path });
  t.is(keys.master.active().kid, kid);
  t.is(keys.master.all().length, 2);
  const times = { added_at: addedAt.toISOString(), promoted_at: promotedAt.toISOString() };
  t.deepEqual(timesOf(promoted, 'master', kid), times);
  t.deepEqual(timesOf(promoted, 'master', old), { demoted_at: promotedAt.toISOString() });
  t.deepEqual(
    promoteKey(promoted, 'master', kid, new Date()),
    promoted,
    'a second promotion changes nothing',
  );

  const retired = changeKeyFile(path, (file) => retireKey(file, 'master', old));
  t.is(retired.rings.master.length, 1);
  t.deepEqual(timesOf(retired, 'master', old), {});
  t.deepEqual({ ...retired.rings, master: null }, { ...before.rings, master: null });
  t.is(retired.index_key, before.index_key);
  t.is(statSync(path).mode & 0o777, 0o600);
});

test('A refused change leaves the file unchanged and names the existing keys', (t) => {
  const path = join(givenDirectory(t), 'keys.json');
  const before = readOrMakeKeyFile(path, randomBytes);
  const kid = before.rings.jwt[0]?.split(':')[0] ?? '';
  const missing = { instanceOf: KeyProblem, message: `the ring jwt has no such key; it has ${kid}` };
  t.throws(() => changeKeyFile(path, (file) => promoteKey(file, 'jwt', 'other', promotedAt)), missing);
  t.throws(() => changeKeyFile(path, (file) => retireKey(file, 'jwt', 'other')), missing);
  t.throws(() => changeKeyFile(path, (file) => retireKey(file, 'jwt', kid)), {
    instanceOf: KeyProblem,
    message: `${kid} is the active key of the ring jwt; promote another one first`,
  });
  t.deepEqual(readKeyFile(path), before);
});

test('Only the leftovers of a killed command are removed beside the key file', (t) => {
  const directory = givenDirectory(t);
  const path = join(directory, 'keys.json');
  readOrMakeKeyFile(path, randomBytes);
  writeFileSync(`${path}.8c7f.tmp`, '{"format":1', { mode: 0o600 });
  writeFileSync(join(directory, 'other.tmp'), '');
  removeLeftovers(path);
  t.deepEqual(readdirSync(directory).sort(), ['keys.json', 'other.tmp']);
});

test('A key file that cannot be written stays unchanged, and the error is a sentence', (t) => {
  const directory = givenDirectory(t);
  const path = join(directory, 'keys.json');
  const before = readOrMakeKeyFile(path, randomBytes);
  const moved = `${directory}-moved`;
  const error = t.throws(
    () =>
      changeKeyFile(path, (file) => {
        renameSync(directory, moved);
        return file;
      }),
    { instanceOf: KeyProblem },
  );
  renameSync(moved, directory);
  t.is(error.message, `${path} could not be written (ENOENT); its keys are as they were`);
  t.deepEqual(readKeyFile(path), before);
  t.deepEqual(readdirSync(directory), ['keys.json']);
});
