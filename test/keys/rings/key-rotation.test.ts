import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import test from 'ava';
import {
  refreshIdleSeconds,
  sessionSeconds,
} from '../../../src/areas/accounts/commands/signing-in/sessions.js';
import { CommandRejected } from '../../../src/event-sourcing/ports/errors.js';
import { revertibleMs } from '../../../src/areas/accounts/domain/user/former-addresses.js';
import { type RingName, ringNames } from '../../../src/keys/rings/key-file-format.js';
import { keySettingNames } from '../../../src/keys/rings/key-rings.js';
import { promoteAfterSeconds, rereadSeconds } from '../../../src/keys/rings/key-waiting-times.js';
import { formatRingKey, parseKeyring } from '../../../src/keys/rings/keyring.js';
import { accessTokenSeconds, jwksCacheSeconds } from '../../../src/security/tokens/access-tokens.js';
import { givenKeyRotation } from '../../support/given/given-key-rotation.js';

const rejected = (code: string, message?: RegExp) => ({
  instanceOf: CommandRejected,
  code,
  ...(message === undefined ? {} : { message }),
});
const [minuteMs, dayMs] = [60_000, 86_400_000];

for (const ring of ringNames) {
  test(`The ring ${ring} adds a key behind, promotes it a minute later, and uses it at once`, (t) => {
    const { rotation, keyRings, clock, changes, openRings } = givenKeyRotation(t);
    const before = keyRings[ring].active().kid;

    const { kid } = rotation.add(ring);
    t.deepEqual(
      keyRings[ring].all().map((key) => key.kid),
      [before, kid],
    );
    clock.advance(minuteMs - 1);
    t.throws(
      () => rotation.promote(ring, kid, { now: false }),
      rejected('too_early', /added 59 s ago.*--now/),
    );
    t.is(keyRings[ring].active().kid, before);
    clock.advance(1);
    t.true(rotation.promote(ring, kid, { now: false }).changed);
    t.is(keyRings[ring].active().kid, kid);
    t.is(openRings()[ring].active().kid, kid, 'a process that starts now uses it too');
    t.not(keyRings[ring].find(before), undefined);
    t.deepEqual(changes, [`added ${ring} ${kid}`, `promoted ${ring} ${kid}`]);

    // Back again without waiting: every process knows the key.
    t.true(rotation.promote(ring, before, { now: false }).changed);
    t.is(keyRings[ring].active().kid, before);
    t.throws(() => rotation.promote(ring, before, { now: false }), rejected('already_active'));
  });
}

/** The time until a demoted key may be retired, and the life of the values that it made; both in ms. */
const retirements: readonly [RingName, number, number][] = [
  ['jwt', 11 * minuteMs, accessTokenSeconds * 1_000],
  ['code', 3 * dayMs + minuteMs, revertibleMs],
  ['refresh', 90 * dayMs + minuteMs, Math.max(refreshIdleSeconds, sessionSeconds) * 1_000],
  ['master', dayMs + minuteMs, dayMs],
];

for (const [ring, waitMs, goodForMs] of retirements) {
  test(`The ring ${ring} retires a key only when no value of it is valid`, async (t) => {
    t.true(waitMs >= goodForMs + rereadSeconds * 1_000);
    const { rotation, rotate, keyRings, clock, changes } = givenKeyRotation(t);
    const { from, to } = rotate(ring);
    clock.advance(waitMs - 1);
    await t.throwsAsync(rotation.retire(ring, from, { force: false }), rejected('still_needed', /--force/));
    await t.throwsAsync(rotation.retire(ring, to, { force: true }), rejected('key_in_use'));
    clock.advance(1);
    t.true((await rotation.retire(ring, from, { force: false })).changed);
    t.deepEqual(
      keyRings[ring].all().map(({ kid }) => kid),
      [to],
    );
    t.is(changes.at(-1), `retired ${ring} ${from}`);
    await t.throwsAsync(rotation.retire(ring, from, { force: false }), rejected('no_such_key'));
  });
}

test('An audit key is retired 30 days after its successor was added, or by force', async (t) => {
  // Given a rotation that promotes the new key late: the key signs from its addition on
  const { rotation, keyRings, clock } = givenKeyRotation(t);
  const from = keyRings.audit.active().kid;
  t.regex(rotation.add('audit').next, /signs from now on.* give auditors its public key/);
  clock.advance(20 * dayMs);
  const { kid: to, next } = rotation.promote('audit', null, { now: false });
  t.regex(next, /30 days and a minute after another key was added/);
  clock.advance(10 * dayMs + minuteMs - 1);
  const retire = (force = false) => rotation.retire('audit', from, { force });
  await t.throwsAsync(
    retire(),
    rejected('still_needed', /signs only since 2026-01-02T03:04:05.000Z, not for 30 days; .*--force/),
  );
  clock.advance(1);
  // Then the 30 days count from the addition
  t.regex((await retire()).next, /auditors keep its public key/);
  t.deepEqual(
    keyRings.audit.all().map(({ kid }) => kid),
    [to],
  );
});

test('A leaked audit key is retired by force at once', async (t) => {
  const { rotation, rotate, keyRings } = givenKeyRotation(t);
  const { from } = rotate('audit');
  t.true((await rotation.retire('audit', from, { force: true })).changed);
  t.is(keyRings.audit.find(from), undefined);
});

test('An audit key that was never active is needed while only younger keys stay beside it', async (t) => {
  // Given a key that auditors know for 30 days, and a younger one that is active
  const { rotation, keyRings, clock } = givenKeyRotation(t);
  const first = keyRings.audit.active().kid;
  const { kid: known } = rotation.add('audit');
  clock.advance(30 * dayMs);
  const { kid: young } = rotation.add('audit');
  clock.advance(minuteMs);
  rotation.promote('audit', young, { now: false });
  // Then the oldest key may go, because auditors have the second one, and the second one may not
  t.true((await rotation.retire('audit', first, { force: false })).changed);
  await t.throwsAsync(
    rotation.retire('audit', known, { force: false }),
    rejected('still_needed', /signs only since 2026-02-01/),
  );
  // Then a younger key beside an older one may go at once
  const { kid: mistake } = rotation.add('audit');
  t.true((await rotation.retire('audit', mistake, { force: false })).changed);
  clock.advance(30 * dayMs);
  t.true((await rotation.retire('audit', known, { force: false })).changed);
});

test('An audit key without times is retired only by force, until a key with a time has signed for 30 days', async (t) => {
  // Given a ring to which an operator added a key by hand
  const { rotation, keyRings, keyFile, clock } = givenKeyRotation(t);
  const file = JSON.parse(readFileSync(keyFile, 'utf8')) as { rings: Record<string, string[]> };
  file.rings['audit']?.push(formatRingKey({ kid: 'by-hand', key: Buffer.alloc(32, 7) }));
  writeFileSync(keyFile, JSON.stringify(file), { mode: 0o600 });
  keyRings.reload();
  const retire = () => rotation.retire('audit', 'by-hand', { force: false });
  await t.throwsAsync(retire(), rejected('still_needed', /no time since which another key signs/));
  rotation.add('audit');
  await t.throwsAsync(retire(), rejected('still_needed', /signs only since/));
  clock.advance(30 * dayMs + minuteMs);
  t.true((await retire()).changed);
});

test('A pepper is retired when no password needs it, and a minute after it was active', async (t) => {
  const share = { shareId: 'a share', projectId: 'a project' };
  const needed = [
    { users: 3, shares: 0, someShares: [] },
    { users: 0, shares: 7, someShares: [share] },
    { users: 1, shares: 1, someShares: [share] },
    { users: 0, shares: 0, someShares: [] },
  ];
  const counted: string[] = [];
  const { rotation, rotate, keyRings, clock } = givenKeyRotation(t, {}, (pepper) => {
    counted.push(pepper);
    return Promise.resolve(needed.shift() ?? { users: 9, shares: 9, someShares: [] });
  });
  const { from, to } = rotate('pepper');
  const retire = (force = false) => rotation.retire('pepper', from, { force });
  clock.advance(59_999);
  await t.throwsAsync(retire(), rejected('key_in_use', /less than a minute ago/));
  t.deepEqual(counted, [], 'the count waits until it cannot grow');
  clock.advance(1);
  await t.throwsAsync(
    retire(),
    rejected('still_needed', /password of 3 users is .* next signs in .*--force/),
  );
  await t.throwsAsync(
    retire(),
    rejected('still_needed', /password of 7 shares is .* set again .*\(a share of project a project, …\)/),
  );
  await t.throwsAsync(
    retire(),
    rejected('still_needed', /1 user is .* 1 share is .*\(a share of project a project\)/),
  );
  t.true((await retire()).changed);
  t.deepEqual(
    keyRings.pepper.all().map(({ kid }) => kid),
    [to],
  );
  t.deepEqual(counted, Array<string>(4).fill(from));
});

test('A leaked pepper is retired by force at once, and the reply says what that costs', async (t) => {
  const { rotation, rotate, keyRings } = givenKeyRotation(t, {}, () => Promise.reject(new Error('counted')));
  const { from } = rotate('pepper');
  const { changed, next } = await rotation.retire('pepper', from, { force: true });
  t.true(changed);
  t.regex(next, /mailed code.* stays closed/);
  t.is(keyRings.pepper.find(from), undefined);
});

test('A key that was added and never active may be retired at once', async (t) => {
  const { rotation, keyRings } = givenKeyRotation(t);
  for (const ring of ringNames) {
    const { kid } = rotation.add(ring);
    t.true((await rotation.retire(ring, kid, { force: false })).changed);
    t.is(keyRings[ring].all().length, 1);
  }
});

test('A key without times is promoted and retired only by force', async (t) => {
  // Given a file to which an operator added a key by hand
  const { rotation, keyRings, keyFile } = givenKeyRotation(t);
  const file = JSON.parse(readFileSync(keyFile, 'utf8')) as { rings: Record<string, string[]> };
  file.rings['jwt']?.push(formatRingKey({ kid: 'by-hand', key: Buffer.alloc(32, 7) }));
  writeFileSync(keyFile, JSON.stringify(file), { mode: 0o600 });
  keyRings.reload();

  t.throws(() => rotation.promote('jwt', null, { now: false }), rejected('no_such_key', /say which key/));
  t.throws(() => rotation.promote('jwt', 'by-hand', { now: false }), rejected('too_early', /has no time/));
  await t.throwsAsync(
    rotation.retire('jwt', 'by-hand', { force: false }),
    rejected('still_needed', /has no time/),
  );
  t.true(rotation.promote('jwt', 'by-hand', { now: true }).changed);
});

test('A master key that wraps data keys is never retired, not even by force', async (t) => {
  const { rotation, rotate, sealer, clock } = givenKeyRotation(t);
  const person = { kind: 'person', userId: 'u1' } as const;
  const sealed = await sealer.seal(person, 'email', 'ada@example.org');
  const { from, to } = rotate('master');
  clock.advance(2 * dayMs);
  for (const force of [false, true]) {
    await t.throwsAsync(
      rotation.retire('master', from, { force }),
      rejected('key_in_use', /^1 data keys are still wrapped with .* keys rewrap$/),
    );
  }
  t.like(await sealer.rewrap(), { rewrapped: 1, byMasterKey: new Map([[to, 1]]) });
  t.true((await rotation.retire('master', from, { force: false })).changed);
  t.is(await sealer.open(person, 'email', sealed), 'ada@example.org');
});

test('A master key is not retired, not even by force, while a late write may still use it', async (t) => {
  const { rotation, rotate, clock } = givenKeyRotation(t);
  const { from } = rotate('master');
  clock.advance(minuteMs - 1);
  await t.throwsAsync(rotation.retire('master', from, { force: true }), rejected('key_in_use', /wait/));
  clock.advance(1);
  t.true((await rotation.retire('master', from, { force: true })).changed);
});

test('A master key that was demoted while the clock was a year ahead is retired by force a minute later', async (t) => {
  const { rotation, rotate, clock } = givenKeyRotation(t);
  clock.set(365 * dayMs);
  const { from } = rotate('master');
  clock.set(-365 * dayMs);
  clock.advance(minuteMs);
  t.true((await rotation.retire('master', from, { force: true })).changed);
});

test('A promotion must name the key when several wait', (t) => {
  const { rotation, clock } = givenKeyRotation(t);
  t.throws(() => rotation.promote('code', null, { now: true }), rejected('no_such_key'));
  rotation.add('code');
  const { kid } = rotation.add('code');
  clock.advance(minuteMs);
  t.throws(() => rotation.promote('code', null, { now: false }), rejected('no_such_key', /say which key/));
  t.true(rotation.promote('code', kid, { now: false }).changed);
  t.throws(() => rotation.promote('code', 'none', { now: false }), rejected('no_such_key'));
});

test('A promotion waits at least as long as a reading and the cache of the published keys', (t) => {
  t.true(promoteAfterSeconds >= rereadSeconds + jwksCacheSeconds);
});

test('The overview has ids and times of every ring, and no key', (t) => {
  const { rotation, rotate, keyRings } = givenKeyRotation(t);
  const { from, to } = rotate('jwt');
  const list = rotation.list();
  t.deepEqual(
    list.map(({ ring, source }) => [ring, source]),
    ringNames.map((ring) => [ring, 'keys.json']),
  );
  t.deepEqual(list[0]?.keys, [
    {
      kid: to,
      active: true,
      added_at: '2026-01-02T03:04:05.000Z',
      promoted_at: '2026-01-02T03:05:05.000Z',
      demoted_at: null,
    },
    { kid: from, active: false, added_at: null, promoted_at: null, demoted_at: '2026-01-02T03:05:05.000Z' },
  ]);
  const text = JSON.stringify(list);
  for (const ring of ringNames) {
    for (const { key } of keyRings[ring].all()) t.false(text.includes(key.toString('base64url')));
  }
});

test('For rings that the environment sets, the reply says what to set, and no file changes', async (t) => {
  // Given a master ring that the environment sets
  const list = ['m1', 'm2', 'm3'].map((kid, index) => formatRingKey({ kid, key: Buffer.alloc(32, index) }));
  const { rotation, keyFile, sealer, changes } = givenKeyRotation(t, { master: list.join(',') });
  const before = readFileSync(keyFile, 'utf8');
  t.is(rotation.list().find(({ ring }) => ring === 'master')?.source, keySettingNames.master);

  // Then the reply has a new entry that parses as a key
  const added = rotation.add('master');
  t.false(added.changed);
  t.regex(added.next, /^append the entry to MASTER_KEYS of every process.*60 s/);
  t.is(parseKeyring(added.entry ?? '', { name: 'entry', bytes: 32 }).active().kid, added.kid);
  // and the order, for a named key
  t.throws(() => rotation.promote('master', null, { now: true }), rejected('no_such_key', /say which key/));
  const { next } = rotation.promote('master', 'm2', { now: false });
  t.regex(next, /MASTER_KEYS into this order in every process: m2, m1, m3;/);
  // and the key that may be removed, once it wraps nothing
  t.regex(
    (await rotation.retire('master', 'm3', { force: false })).next,
    /^take the entry m3 out of MASTER_KEYS/,
  );
  await t.throwsAsync(rotation.retire('master', 'm1', { force: false }), rejected('key_in_use', /active/));
  await sealer.seal({ kind: 'person', userId: 'u1' }, 'email', 'x');
  t.is(readFileSync(keyFile, 'utf8'), before);
  t.deepEqual(changes, []);
});

test('A change that the process cannot read is reported', (t) => {
  const { rotation, keyRings, keyFile, problems } = givenKeyRotation(t);
  const active = keyRings.jwt.active().kid;
  const file = JSON.parse(readFileSync(keyFile, 'utf8')) as { rings: Record<string, string[]> };
  writeFileSync(keyFile, JSON.stringify({ ...file, index_key: Buffer.alloc(32).toString('base64url') }));
  t.throws(() => rotation.add('jwt'), rejected('key_problem', /INDEX_KEY has changed/));
  t.is(problems.length, 1);
  rmSync(keyFile);
  t.throws(() => rotation.add('jwt'), rejected('key_problem', /does not exist/));
  t.is(rotation.list()[0]?.keys[0]?.kid, active);
  t.is(keyRings.jwt.active().kid, active);
});
