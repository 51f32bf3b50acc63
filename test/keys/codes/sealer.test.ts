import { execFile } from 'node:child_process';
import { randomBytes, webcrypto } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import fc from 'fast-check';
import { OutcomeUnknown, StoreDamaged } from '../../../src/event-sourcing/ports/errors.js';
import { sealedSchema } from '../../../src/event-sourcing/ports/events.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { openEnvelope, sealEnvelope, dataKeyRecord } from '../../../src/keys/sealing/envelope.js';
import { DoesNotOpen, KeyDestroyed, KeyMissing } from '../../../src/keys/sealing/errors.js';
import { makeKeyring, type Keyring } from '../../../src/keys/rings/keyring.js';
import { type KeyScope, erased, makeSealer } from '../../../src/keys/sealing/sealer.js';
import { anyText } from '../../support/examples/any-text.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';

const master = (kid: string, fill: number) => ({ kid, key: Buffer.alloc(32, fill) });
const person: KeyScope & { kind: 'person' } = { kind: 'person', userId: 'u1' };

/** Makes sealers over one state store, like several processes. */
function givenStore(wrap: (store: StateStore) => StateStore = (store) => store) {
  const clock = makeTestClock();
  const stateStore = makeMemoryStateStore({ clock });
  const process = (masterKeys: Keyring = makeKeyring([master('m1', 1)]), store = wrap(stateStore)) =>
    makeSealer({ stateStore: store, masterKeys, clock, randomBytes });
  return { clock, stateStore, process };
}

test('2,000 data keys that a process keeps take their own bytes, and no slabs of the pool of buffers', async (t) => {
  // In a separate process, because other tests take bytes too
  const program = fileURLToPath(new URL('./kept-key-bytes.js', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, ['--expose-gc', program]);
  t.regex(stdout, /^-?\d+$/);
  t.true(Number(stdout) < 400_000, `${stdout} bytes`);
});

test('The envelope equals the result of RFC 5869 and AES-GCM in WebCrypto', async (t) => {
  const key = Buffer.from(Array.from({ length: 32 }, (_, index) => index));
  const nonce = Buffer.alloc(12, 7);
  const envelope = sealEnvelope(key, ['a', 'b'], Buffer.from('hello'), () => nonce);

  const { subtle } = webcrypto;
  const ikm = await subtle.importKey('raw', key, 'HKDF', false, ['deriveBits']);
  const info = new TextEncoder().encode('stowage envelope v1');
  const derived = Buffer.from(
    await subtle.deriveBits({ name: 'HKDF', hash: 'SHA-256', salt: nonce, info }, ikm, 512),
  );
  const aes = await subtle.importKey('raw', derived.subarray(0, 32), 'AES-GCM', false, ['encrypt']);
  const additionalData = new TextEncoder().encode('["a","b"]');
  const output = Buffer.from(
    await subtle.encrypt(
      { name: 'AES-GCM', iv: nonce, additionalData },
      aes,
      new TextEncoder().encode('hello'),
    ),
  );
  const expected = Buffer.concat([nonce, derived.subarray(32), output.subarray(5), output.subarray(0, 5)]);
  t.is(envelope, expected.toString('base64url'));
  // Stored events depend on this text for ever.
  t.is(envelope, 'BwcHBwcHBwcHBwcHEnQLGoMDrsRViQLUk388hErr7TQ5vdvIWlzTwX1_2V9fNgJlzL7AFlx6Axz2A-rRrPrXmNY');
});

test('An envelope opens to its plaintext only with its key and context', (t) => {
  const bytes = fc.uint8Array({ maxLength: 300 });
  const key = fc.uint8Array({ minLength: 32, maxLength: 32 });
  const place = fc.array(anyText({ maxLength: 6 }), { maxLength: 4 });
  fc.assert(
    fc.property(bytes, fc.tuple(key, key), fc.tuple(place, place), (plaintext, keys, [right, other]) => {
      const [k1, k2] = [Buffer.from(keys[0]), Buffer.from(keys[1])];
      const envelope = sealEnvelope(k1, right, Buffer.from(plaintext), randomBytes);
      t.deepEqual(openEnvelope(k1, right, envelope), Buffer.from(plaintext));
      if (JSON.stringify(right) !== JSON.stringify(other)) {
        t.throws(() => openEnvelope(k1, other, envelope), { instanceOf: DoesNotOpen });
      }
      if (!k1.equals(k2)) t.throws(() => openEnvelope(k2, right, envelope), { instanceOf: DoesNotOpen });
    }),
    { numRuns: 300 },
  );
});

test('An envelope with a flipped bit, a changed character, cut or lengthened does not open', (t) => {
  const key = randomBytes(32);
  const envelope = sealEnvelope(key, ['x'], Buffer.from('secret value'), randomBytes);
  const bytes = Buffer.from(envelope, 'base64url');
  const opens = (text: string) => {
    try {
      openEnvelope(key, ['x'], text);
      return true;
    } catch (error) {
      t.true(error instanceof DoesNotOpen);
      return false;
    }
  };
  t.true(opens(envelope));
  for (let bit = 0; bit < bytes.length * 8; bit += 1) {
    const flipped = Buffer.from(bytes);
    flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
    if (opens(flipped.toString('base64url'))) t.fail(`bit ${bit}`);
  }
  for (let index = 0; index < envelope.length; index += 1) {
    for (const character of 'AQgw_=+ ') {
      const changed = envelope.slice(0, index) + character + envelope.slice(index + 1);
      if (changed !== envelope && opens(changed)) t.fail(`${character} at ${index}`);
    }
    if (opens(envelope.slice(0, index))) t.fail(`cut at ${index}`);
  }
  for (const tail of ['A', 'AA', '=', '==', '\n']) if (opens(envelope + tail)) t.fail(`tail ${tail}`);
});

test('A ciphertext that opens under two GCM keys opens under at most one key here', (t) => {
  // The commitment is compared before the decryption, because the tag alone cannot distinguish these keys.
  const [k1, k2] = [randomBytes(32), randomBytes(32)];
  const nonce = randomBytes(12);
  const first = Buffer.from(
    sealEnvelope(k1, [], Buffer.from('text'), () => nonce),
    'base64url',
  );
  const second = Buffer.from(
    sealEnvelope(k2, [], Buffer.from('text'), () => nonce),
    'base64url',
  );
  const mixed = Buffer.concat([first.subarray(0, 44), second.subarray(44)]).toString('base64url');
  t.throws(() => openEnvelope(k1, [], mixed), { instanceOf: DoesNotOpen });
  t.throws(() => openEnvelope(k2, [], mixed), { instanceOf: DoesNotOpen });
});

const scopes: readonly KeyScope[] = [
  person,
  { kind: 'person', userId: 'u2' },
  { kind: 'storage-credentials', projectId: 'p', storageId: 's', version: 1 },
  { kind: 'storage-credentials', projectId: 'p', storageId: 's', version: 2 },
  { kind: 'storage-credentials', projectId: 'p/s', storageId: '1', version: 1 },
  { kind: 'reply', claim: 'c1' },
  { kind: 'reply', claim: 'c2' },
];

test('A sealed value opens in any process, only for its scope and field', async (t) => {
  const { process } = givenStore();
  const [one, two] = [process(), process()];
  for (const scope of scopes) for (const field of ['a', 'b']) await one.seal(scope, field, 'x');
  for (const scope of scopes) {
    const sealed = await one.seal(scope, 'a', 'grüße 🔑');
    t.true(sealedSchema.safeParse(sealed).success);
    t.is(await two.open(scope, 'a', sealed), 'grüße 🔑');
    for (const other of scopes) {
      if (other !== scope) await t.throwsAsync(two.open(other, 'a', sealed), { instanceOf: DoesNotOpen });
    }
    await t.throwsAsync(two.open(scope, 'b', sealed), { instanceOf: DoesNotOpen });
  }
});

test('The same text sealed twice differs, and the empty text can be sealed', async (t) => {
  const sealer = givenStore().process();
  t.not(await sealer.seal(person, 'email', ''), await sealer.seal(person, 'email', ''));
  t.is(await sealer.open(person, 'email', await sealer.seal(person, 'email', '')), '');
});

test('The wrapped data key is stored before the sealed value is returned', async (t) => {
  const { process, stateStore } = givenStore();
  await process().seal(person, 'email', 'x');
  const record = await stateStore.get('data-key/person/u1');
  t.like(record?.value, { master_kid: 'm1', made_at: '2026-01-02T03:04:05.000Z' });
  t.is(record?.expiresAt, null);
});

test('Processes that race for the first key of a scope end with one key', async (t) => {
  const { process } = givenStore();
  const sealers = [process(), process(), process()];
  const values = await Promise.all(
    sealers.flatMap((sealer) => [sealer.seal(person, 'email', 'x'), sealer.seal(person, 'email', 'x')]),
  );
  for (const sealed of values) {
    for (const sealer of [...sealers, process()]) t.is(await sealer.open(person, 'email', sealed), 'x');
  }
});

test('A write with an unknown outcome ends in a stored key', async (t) => {
  for (const applied of [true, false]) {
    const { process, stateStore } = givenStore((store) => {
      let failures = 0;
      return {
        ...store,
        compareAndSet: async (...args) => {
          if (failures === 2) return store.compareAndSet(...args);
          failures += 1;
          if (applied) await store.compareAndSet(...args);
          throw new OutcomeUnknown('lost');
        },
      };
    });
    const sealed = await process().seal(person, 'email', 'x');
    t.is(await process(undefined, stateStore).open(person, 'email', sealed), 'x');
  }
});

test('After a destruction values open as erased, and no value can be sealed', async (t) => {
  const { process, stateStore } = givenStore();
  const sealer = process();
  const sealed = await sealer.seal(person, 'email', 'x');
  await sealer.destroy(person);
  const marked = await stateStore.get(dataKeyRecord(person));
  await sealer.destroy(person);
  t.deepEqual(
    await stateStore.get(dataKeyRecord(person)),
    marked,
    'it keeps the time of the first destruction',
  );
  for (const each of [sealer, process()]) {
    t.is(await each.open(person, 'email', sealed), erased);
    await t.throwsAsync(each.seal(person, 'email', 'y'), { instanceOf: KeyDestroyed });
  }
  t.is(typeof (await sealer.seal({ kind: 'person', userId: 'u2' }, 'email', 'y')), 'string');
});

test('A scope without a key can be destroyed, and never gets a key', async (t) => {
  const { process } = givenStore();
  await process().destroy(person);
  await t.throwsAsync(process().seal(person, 'email', 'y'), { instanceOf: KeyDestroyed });
});

test('Another process uses a destroyed key for at most 60 s, also the process that made it', async (t) => {
  // Given a wall clock that is far from the steady one, as it is in every process
  const { process, clock } = givenStore();
  clock.set(3_600_000);
  const [maker, reader, destroyer] = [process(), process(), process()];
  const sealed = await maker.seal(person, 'email', 'x');
  const opened = () => Promise.all([maker, reader].map((each) => each.open(person, 'email', sealed)));
  t.deepEqual(await opened(), ['x', 'x']);
  // When
  await destroyer.destroy(person);
  // Then
  clock.advance(59_999);
  t.deepEqual(await opened(), ['x', 'x']);
  clock.advance(1);
  t.deepEqual(await opened(), [erased, erased]);
});

test('Another process uses a destroyed key no longer if its clock is set back', async (t) => {
  const { process, clock } = givenStore();
  const [one, two] = [process(), process()];
  const sealed = await one.seal(person, 'email', 'x');
  t.is(await two.open(person, 'email', sealed), 'x');
  await one.destroy(person);
  clock.set(-3_600_000);
  clock.advance(60_000);
  t.is(await two.open(person, 'email', sealed), erased);
});

test('A read that began before the destruction does not restore the key', async (t) => {
  let release = (): void => undefined;
  const { process, stateStore } = givenStore();
  const sealed = await process().seal(person, 'email', 'x');
  let held = false;
  const slow = process(undefined, {
    ...stateStore,
    get: async (key) => {
      const record = await stateStore.get(key);
      if (held) return record;
      held = true;
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return record;
    },
  });
  const opening = slow.open(person, 'email', sealed);
  await slow.destroy(person);
  release();
  t.is(await opening, 'x', 'the read began before the destruction');
  t.is(await slow.open(person, 'email', sealed), erased);
});

test('A lost key is no erasure', async (t) => {
  const sealed = await givenStore().process().seal(person, 'email', 'x');
  await t.throwsAsync(givenStore().process().open(person, 'email', sealed), { instanceOf: KeyMissing });
});

test('A changed key record stops with a sentence', async (t) => {
  const { process, stateStore } = givenStore();
  const sealed = await process().seal(person, 'email', 'x');
  const otherMaster = process(makeKeyring([master('m1', 2)]));
  await t.throwsAsync(otherMaster.open(person, 'email', sealed), {
    instanceOf: StoreDamaged,
    message: /does not open with master key m1/,
  });
  const record = await stateStore.get('data-key/person/u1');
  await stateStore.compareAndSet('data-key/person/u1', record?.version ?? null, { wrapped: 7 });
  await t.throwsAsync(process().open(person, 'email', sealed), { instanceOf: StoreDamaged });
});

test('A wrapped key that was moved to another scope does not open', async (t) => {
  const { process, stateStore } = givenStore();
  const sealed = await process().seal(person, 'email', 'x');
  const record = await stateStore.get('data-key/person/u1');
  await stateStore.compareAndSet('data-key/person/u2', null, record?.value ?? null);
  await t.throwsAsync(process().open({ kind: 'person', userId: 'u2' }, 'email', sealed), {
    instanceOf: StoreDamaged,
  });
});

test('A rewrap wraps every data key again, after which the old master key is not needed and no value has changed', async (t) => {
  const { process, stateStore } = givenStore();
  const old = process();
  const users = Array.from({ length: 450 }, (_, index) => ({ kind: 'person', userId: `u${index}` }) as const);
  const values = await Promise.all(users.map((user) => old.seal(user, 'email', user.userId)));
  await old.destroy({ kind: 'person', userId: 'u7' });

  const both = process(makeKeyring([master('m2', 2), master('m1', 1)]));
  const report = await both.rewrap();
  t.deepEqual(report, { rewrapped: 449, unreadable: 0, byMasterKey: new Map([['m2', 449]]) });
  t.is((await both.rewrap()).rewrapped, 0);

  const onlyNew = process(makeKeyring([master('m2', 2)]));
  for (const [index, user] of users.entries()) {
    const sealed = values[index];
    if (sealed !== undefined)
      t.is(await onlyNew.open(user, 'email', sealed), index === 7 ? erased : user.userId);
  }
  t.like((await stateStore.get('data-key/person/u7'))?.value, { destroyed_at: '2026-01-02T03:04:05.000Z' });
});

test('A sweep without the old master key reports the number of unreadable keys', async (t) => {
  const { process } = givenStore();
  await process().seal(person, 'email', 'x');
  const report = await process(makeKeyring([master('m2', 2)])).rewrap();
  t.deepEqual(report, { rewrapped: 0, unreadable: 1, byMasterKey: new Map() });
});

test('No error of the sealer contains a plaintext or a key', async (t) => {
  const canary = 'canary-7f3a';
  const { process } = givenStore();
  const sealer = process();
  const sealed = await sealer.seal(person, 'email', canary);
  const failures = await Promise.allSettled([
    sealer.open(person, 'other', sealed),
    sealer.open({ kind: 'person', userId: 'nobody' }, 'email', sealed),
    process(makeKeyring([master('m9', 9)])).open(person, 'email', sealed),
    process(makeKeyring([master('m1', 9)])).open(person, 'email', sealed),
    sealer.destroy(person).then(() => sealer.seal(person, 'email', canary)),
  ]);
  for (const failure of failures) {
    if (failure.status === 'fulfilled') return t.fail();
    const text = String(failure.reason) + JSON.stringify(failure.reason);
    const keyText = Buffer.alloc(32, 1).toString('base64url');
    for (const secret of [canary, keyText, sealed]) t.false(text.includes(secret));
  }
  return undefined;
});
