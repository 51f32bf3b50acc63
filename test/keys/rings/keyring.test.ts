import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { KeyProblem } from '../../../src/keys/sealing/errors.js';
import { ringNames } from '../../../src/keys/rings/key-file-format.js';
import {
  loadKeys,
  makeKeyRings,
  makeLoadKeys,
  readKeySettings,
  type KeyMaterial,
  type KeySettings,
} from '../../../src/keys/rings/key-rings.js';
import { readOrMakeKeyFile } from '../../../src/keys/rings/key-file.js';
import { formatRingKey, parseKeyring } from '../../../src/keys/rings/keyring.js';
import { givenDirectory } from '../../support/directories.js';
import { makeTestClock } from '../../support/fakes/clock.js';

const key = (fill: number) => Buffer.alloc(32, fill);
const entry = (kid: string, fill: number) => formatRingKey({ kid, key: key(fill) });
const options = { name: 'MASTER_KEYS', bytes: 32 };

function settingsWith(change: KeySettings = {}): KeySettings {
  const rings = Object.fromEntries(ringNames.map((name, index) => [name, entry('k1', index + 1)]));
  return { ...rings, index: key(99).toString('base64url'), ...change };
}

function load(settings: KeySettings): KeyMaterial {
  return loadKeys({ settings, keyFile: null });
}

test('A list of keys has its first key active and finds every key by its id', (t) => {
  const ring = parseKeyring(`${entry('new', 1)}, ${entry('old', 2)}\n`, options);
  t.deepEqual(ring.active(), { kid: 'new', key: key(1) });
  t.deepEqual(ring.find('old'), key(2));
  t.is(ring.find('other'), undefined);
  t.is(ring.find('__proto__'), undefined);
  t.deepEqual(
    ring.all().map(({ kid }) => kid),
    ['new', 'old'],
  );
});

test('The error of a faulty list names every fault by the number of the entry', (t) => {
  const text = `${entry('a', 1)},nocolon,bad kid!:x,a_b:AAAA,c:@@@,d:AAAA,${entry('a', 2)}`;
  const error = t.throws(() => parseKeyring(text, options), { instanceOf: KeyProblem });
  t.is(
    error.message,
    [
      'MASTER_KEYS, entry 2: not of the form kid:base64url',
      'MASTER_KEYS, entry 3: not of the form kid:base64url',
      'MASTER_KEYS, entry 4: the key id is not 1 to 32 letters, digits and hyphens',
      'MASTER_KEYS, entry 5: the key id is not 1 to 32 letters, digits and hyphens',
      'MASTER_KEYS, entry 6: the key is not base64url without padding',
      'MASTER_KEYS, entry 7: the key has 3 bytes, it must have 32',
      'MASTER_KEYS, entry 8: its key id occurs twice; every key needs a different id',
    ].join('; '),
  );
});

test('An empty list is refused with the form of a list', (t) => {
  t.throws(() => parseKeyring(' , ', options), {
    message: 'MASTER_KEYS is empty; give it a list of kid:base64url, the active key first',
  });
});

test('The error of a faulty list never contains text of a key', (t) => {
  const secret = fc
    .uint8Array({ minLength: 12, maxLength: 40 })
    .map((b) => Buffer.from(b).toString('base64url'));
  const spoilt = fc.tuple(secret, fc.constantFrom('', ':', 'k1:', 'k1:=', 'k 1:', ':k1:', 'k1;', 'k1::'));
  fc.assert(
    fc.property(fc.array(spoilt, { minLength: 1, maxLength: 4 }), (entries) => {
      const text = entries.map(([body, head]) => head + body).join(',');
      try {
        parseKeyring(text, options);
      } catch (error) {
        const message = String(error);
        return entries.every(([body]) => !message.includes(body));
      }
      return true;
    }),
  );
  t.pass();
});

test('Keys that are set explicitly are the only keys', (t) => {
  const keys = load(settingsWith({ master: `${entry('m2', 7)},${entry('m1', 8)}` }));
  t.is(keys.master.active().kid, 'm2');
  t.deepEqual(keys.jwt.active(), { kid: 'k1', key: key(1) });
  t.deepEqual(keys.indexKey, key(99));
});

test('Settings are read by their names in the environment', (t) => {
  const settings = readKeySettings((name) => (name === 'PEPPERS' ? undefined : `text of ${name}`));
  t.deepEqual(settings, {
    jwt: 'text of JWT_KEYS',
    master: 'text of MASTER_KEYS',
    refresh: 'text of REFRESH_KEYS',
    code: 'text of CODE_KEYS',
    pepper: undefined,
    audit: 'text of AUDIT_SIGNING_KEYS',
    index: 'text of INDEX_KEY',
  });
});

test('Without a key file one sentence names all missing settings', (t) => {
  const error = t.throws(() => load({ master: entry('m', 1) }), { instanceOf: KeyProblem });
  t.regex(
    error.message,
    /^not set: JWT_KEYS, REFRESH_KEYS, CODE_KEYS, PEPPERS, AUDIT_SIGNING_KEYS, INDEX_KEY;/,
  );
});

test('Faults in several settings are reported at once', (t) => {
  const error = t.throws(() => load(settingsWith({ jwt: 'x', pepper: 'y', index: 'z' })), {
    instanceOf: KeyProblem,
  });
  t.regex(error.message, /JWT_KEYS, entry 1.*PEPPERS, entry 1.*INDEX_KEY must be 32 bytes/);
});

function givenLiveRings() {
  let settings = settingsWith();
  let readings = 0;
  const problems: string[] = [];
  const clock = makeTestClock();
  const rings = makeKeyRings({
    load: () => {
      readings += 1;
      return load(settings);
    },
    clock,
    onProblem: (problem) => problems.push(problem),
  });
  return {
    rings,
    clock,
    problems,
    readings: () => readings,
    set: (change: KeySettings) => {
      settings = settingsWith(change);
    },
  };
}

test('A reload activates promoted keys', (t) => {
  const { rings, set } = givenLiveRings();
  const { master } = rings;
  set({ master: `${entry('m2', 50)},${entry('k1', 2)}` });
  t.is(master.active().kid, 'k1');
  rings.reload();
  t.is(master.active().kid, 'm2');
  t.deepEqual(master.find('k1'), key(2));
});

test('An unknown key id reads the source at most once a second', (t) => {
  const { rings, clock, set, readings } = givenLiveRings();
  t.is(rings.master.find('m2'), undefined);
  set({ master: `${entry('k1', 2)},${entry('m2', 50)}` });
  for (let index = 0; index < 100; index += 1) rings.jwt.find(`made-up-${index}`);
  t.is(rings.master.find('m2'), undefined, 'the second has not passed');
  t.is(readings(), 2);
  clock.advance(1_000);
  t.deepEqual(rings.master.find('m2'), key(50));
  t.is(readings(), 3);
});

test('A failed reading keeps the old keys and is reported without key text', (t) => {
  const { rings, problems, set } = givenLiveRings();
  set({ master: 'canary-canary-canary' });
  rings.reload();
  t.deepEqual(rings.master.active(), { kid: 'k1', key: key(2) });
  t.deepEqual(problems, ['MASTER_KEYS, entry 1: not of the form kid:base64url']);
});

test('A setting that is empty for a moment keeps its keys, although the key file has others for the ring', (t) => {
  // Given master keys from a setting, beside a file with keys for the rings that are not set
  const keyFile = join(givenDirectory(t), 'keys.json');
  readOrMakeKeyFile(keyFile, randomBytes);
  let master: string | undefined = entry('k1', 2);
  const problems: string[] = [];
  const rings = makeKeyRings({
    load: makeLoadKeys({ settings: () => ({ master }), keyFile }),
    clock: makeTestClock(),
    onProblem: (problem) => problems.push(problem),
  });
  // When the setting is empty, then the data keys still open
  master = undefined;
  rings.reload();
  t.deepEqual(rings.master.active(), { kid: 'k1', key: key(2) });
  t.deepEqual(problems, ['empty, and set at the start: MASTER_KEYS; put the keys back']);
  // and the next list counts
  master = `${entry('m2', 50)},${entry('k1', 2)}`;
  t.is(rings.reload(), null);
  t.is(rings.master.active().kid, 'm2');
});

test('Neither the index key nor the key behind an id ever changes', (t) => {
  const { rings, problems, set } = givenLiveRings();
  set({ index: key(98).toString('base64url') });
  rings.reload();
  set({ pepper: entry('k1', 77) });
  rings.reload();
  t.deepEqual(rings.indexKey, key(99));
  t.not(rings.pepper.find('k1')?.equals(key(77)), true);
  t.regex(problems.join('\n'), /INDEX_KEY has changed.*\nPEPPERS: the id k1 names another key now/);
});

test('An id that has left the ring does not return with another key', (t) => {
  const { rings, problems, set } = givenLiveRings();
  set({ jwt: entry('k2', 2) });
  t.is(rings.reload(), null);
  set({ jwt: `${entry('k2', 2)},${entry('k1', 3)}` });
  t.regex(rings.reload() ?? '', /JWT_KEYS: the id k1 names another key now/);
  t.is(rings.jwt.all().length, 1);
  t.is(problems.length, 1);
  set({ jwt: `${entry('k2', 2)},${entry('k1', 1)}` });
  t.is(rings.reload(), null, 'the id may return with the same key');
});

test('Watching reads the source every 30 s until the signal aborts', async (t) => {
  const ended = new AbortController();
  const clock = makeTestClock();
  const start = clock.now().getTime();
  const readAfterMs: number[] = [];
  const rings = makeKeyRings({
    load: () => {
      readAfterMs.push(clock.now().getTime() - start);
      if (readAfterMs.length === 4) ended.abort();
      return load(settingsWith());
    },
    clock,
    onProblem: (problem) => t.fail(problem),
  });
  await rings.watch(ended.signal);
  t.deepEqual(readAfterMs, [0, 30_000, 60_000, 90_000]);
});
