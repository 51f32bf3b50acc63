import { randomBytes } from 'node:crypto';
import test, { type ExecutionContext } from 'ava';
import { StoreDamaged } from '../../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { KeyProblem } from '../../../src/keys/sealing/errors.js';
import { canaryRecord, makeKeyCanaries } from '../../../src/keys/rings/key-canaries.js';
import { type KeyMaterial, keySettingNames } from '../../../src/keys/rings/key-rings.js';
import { ringNames, type RingName } from '../../../src/keys/rings/key-file-format.js';
import { makeKeyring, type RingKey } from '../../../src/keys/rings/keyring.js';
import { realClock } from '../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';

const keyOf = (kid: string, fill = kid): RingKey => ({ kid, key: Buffer.alloc(32, fill) });

type Rings = Partial<Record<RingName, readonly RingKey[]>>;

/** Keys with one key `k1` in each ring, which differs from ring to ring, and the given rings. */
function givenKeys(rings: Rings = {}, indexKey = Buffer.alloc(32, 'index')): KeyMaterial {
  const ring = (name: RingName) => makeKeyring(rings[name] ?? [keyOf('k1', name)]);
  return {
    jwt: ring('jwt'),
    master: ring('master'),
    refresh: ring('refresh'),
    code: ring('code'),
    pepper: ring('pepper'),
    audit: ring('audit'),
    indexKey,
  };
}

interface Data {
  readonly wrappedBy?: Readonly<Record<string, number>>;
  readonly hasEvents?: () => Promise<boolean>;
  readonly logId?: string;
}

function canariesOf(stateStore: StateStore, keys: KeyMaterial, data: Data = {}) {
  return makeKeyCanaries({
    ...{ stateStore, keys, randomBytes },
    logId: () => Promise.resolve(data.logId ?? 'the-log'),
    countByMasterKey: () => Promise.resolve(new Map(Object.entries(data.wrappedBy ?? {}))),
    hasEvents: data.hasEvents ?? (() => Promise.resolve(false)),
  });
}

/** A state store that has seen a first start with `givenKeys()`, or with the keys. */
async function givenStarted(keys = givenKeys()): Promise<StateStore> {
  const stateStore = makeMemoryStateStore({ clock: realClock });
  await canariesOf(stateStore, keys).check();
  return stateStore;
}

async function refuses(
  t: ExecutionContext,
  { stateStore, keys, data }: { stateStore: StateStore; keys: KeyMaterial; data?: Data },
  sentence: RegExp,
): Promise<void> {
  const before = await stateStore.list('', { limit: 10 });
  await t.throwsAsync(canariesOf(stateStore, keys, data).check(), {
    instanceOf: KeyProblem,
    message: sentence,
  });
  t.deepEqual(await stateStore.list('', { limit: 10 }), before);
}

for (const ring of ringNames) {
  const name = keySettingNames[ring];

  test(`${name}: another key of the same name is refused, and nothing is written`, async (t) => {
    const keys = givenKeys({ [ring]: [keyOf('k1', 'another')] });
    await refuses(t, { stateStore: await givenStarted(), keys }, new RegExp(`${name}: the key k1 is not`));
  });

  test(`${name}: a ring without the key of the data is refused, also when it has further keys`, async (t) => {
    const keys = givenKeys({ [ring]: [keyOf('k2'), keyOf('k3')] });
    await refuses(t, { stateStore: await givenStarted(), keys }, new RegExp(`${name} lacks the key k1`));
  });

  test(`${name}: the keys of a backup from before the last promotion are refused`, async (t) => {
    const [old, active] = [keyOf('k1', ring), keyOf('k2')];
    const stateStore = await givenStarted();
    await canariesOf(stateStore, givenKeys({ [ring]: [active, old] })).check();
    await refuses(t, { stateStore, keys: givenKeys() }, new RegExp(`${name} lacks the key k2`));
  });

  test(`${name}: a rotation by overlapping rings starts at each step, and knows the new key alone then`, async (t) => {
    const [old, active] = [keyOf('k1', ring), keyOf('k2')];
    const stateStore = await givenStarted();
    for (const list of [[old, active], [active, old], [active]]) {
      await t.notThrowsAsync(canariesOf(stateStore, givenKeys({ [ring]: list })).check());
    }
    const other = givenKeys({ [ring]: [keyOf('k2', 'another')] });
    await refuses(t, { stateStore, keys: other }, new RegExp(`${name}: the key k2 is not`));
  });
}

test('INDEX_KEY: another key is refused', async (t) => {
  const keys = givenKeys({}, Buffer.alloc(32, 'another'));
  await refuses(t, { stateStore: await givenStarted(), keys }, /INDEX_KEY is not the key/);
});

test('Two swapped rings are both named, though their keys have the same names', async (t) => {
  const keys = givenKeys({ jwt: [keyOf('k1', 'master')], master: [keyOf('k1', 'jwt')] });
  await refuses(t, { stateStore: await givenStarted(), keys }, /JWT_KEYS: .*; MASTER_KEYS: /);
});

test('A master key that was retired although it wraps data keys is refused; one that wraps none is forgotten', async (t) => {
  const [old, active] = [keyOf('k1', 'master'), keyOf('k2')];
  const stateStore = await givenStarted();
  await canariesOf(stateStore, givenKeys({ master: [active, old] })).check();
  const keys = givenKeys({ master: [active] });
  const data = { wrappedBy: { k1: 7, k2: 3 } };
  await refuses(t, { stateStore, keys, data }, /MASTER_KEYS lacks the key k1, which wraps 7 data keys/);
  await t.notThrowsAsync(canariesOf(stateStore, keys, { wrappedBy: { k2: 10 } }).check());
});

test('An operator may promote and retire a key between two readings of the keys; the next start knows the new ring', async (t) => {
  const [old, active] = [keyOf('k1', 'code'), keyOf('k2')];
  const stateStore = await givenStarted();
  await canariesOf(stateStore, givenKeys({ code: [old, active] })).follow();
  const keys = givenKeys({ code: [active] });
  await canariesOf(stateStore, keys).follow();
  await t.notThrowsAsync(canariesOf(stateStore, keys).check());
});

test('Processes that start at once with different keys: one writes the canaries, and the other is refused', async (t) => {
  const stateStore = makeMemoryStateStore({ clock: realClock });
  const keys = [givenKeys(), givenKeys({ pepper: [keyOf('k1', 'another')] })];
  const starts = await Promise.allSettled(keys.map((each) => canariesOf(stateStore, each).check()));
  const refused = starts.filter(({ status }) => status === 'rejected');
  t.is(refused.length, 1);
  t.regex(String((refused[0] as PromiseRejectedResult).reason), /PEPPERS: the key k1 is not/);
});

test('A log with events beside a state without canaries is refused, and nothing is written', async (t) => {
  const stateStore = makeMemoryStateStore({ clock: realClock });
  const canaries = canariesOf(stateStore, givenKeys(), { hasEvents: () => Promise.resolve(true) });
  await t.throwsAsync(canaries.check(), {
    instanceOf: StoreDamaged,
    message: /the state is missing. Restore/,
  });
  t.is(await stateStore.get(canaryRecord), null);
});

test('A process whose first start is slower than the first events of another one starts', async (t) => {
  // Given a process that has read no canaries
  const stateStore = makeMemoryStateStore({ clock: realClock });
  const slower = canariesOf(stateStore, givenKeys(), {
    hasEvents: async () => {
      // When another process writes the canaries and an event before this one looks at the log
      await canariesOf(stateStore, givenKeys()).check();
      return true;
    },
  });
  // Then it takes these canaries
  await t.notThrowsAsync(slower.check());
});

test('A state beside another log is refused', async (t) => {
  const stateStore = await givenStarted();
  await t.throwsAsync(canariesOf(stateStore, givenKeys(), { logId: 'another-log' }).check(), {
    instanceOf: StoreDamaged,
    message:
      /the state belongs to the log the-log, and the configured log is another-log: restore log and state/,
  });
});

test('A second start writes nothing', async (t) => {
  const stateStore = await givenStarted();
  const before = await stateStore.get(canaryRecord);
  await canariesOf(stateStore, givenKeys()).check();
  t.deepEqual(await stateStore.get(canaryRecord), before);
});
