import test from 'ava';
import { z } from 'zod';
import { OutcomeUnknown } from '../../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { changeRecord, type ChangeOptions } from '../../../src/event-sourcing/ports/change-record.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';

const schema = z.strictObject({ n: z.int() });
const key = 'counter/a';
const counter = { key, schema };

/** A counter that `others` writes race for; `unknown` of the writes apply and lose their answer. */
function given({ others = 0, unknown = 0 } = {}) {
  const memory = makeMemoryStateStore({ clock: makeTestClock() });
  let [races, lost, reads] = [others, unknown, 0];
  const store: Pick<StateStore, 'get' | 'compareAndSet'> = {
    get: (name) => {
      reads += 1;
      return memory.get(name);
    },
    compareAndSet: async (...write) => {
      if (races > 0) {
        races -= 1;
        const stored = await memory.get(key);
        const n = stored === null ? 0 : schema.parse(stored.value).n;
        await memory.compareAndSet(key, stored?.version ?? null, { n: n + 100 });
      }
      const version = await memory.compareAndSet(...write);
      if (lost > 0) {
        lost -= 1;
        throw new OutcomeUnknown('the answer was lost');
      }
      return version;
    },
  };
  return {
    memory,
    store,
    reads: () => reads,
    /** Adds one. The result of the change is what it found. */
    add: async (options: Partial<ChangeOptions> = {}) => {
      const changed = await changeRecord(
        store,
        counter,
        (found) => ({ write: { n: (found?.value.n ?? 0) + 1 }, result: found?.value.n ?? null }),
        { tries: 3, ...options },
      );
      return changed === null || 'kept' in changed ? null : changed;
    },
    value: async () => (await memory.get(key))?.value,
  };
}

test('A change of a record is applied to what other writers wrote before', async (t) => {
  const { add, memory, value } = given({ others: 2 });
  const changed = await add();
  t.is(changed?.result, 200);
  t.is(changed?.version, (await memory.get(key))?.version);
  t.deepEqual(await value(), { n: 201 });
});

test('A change that loses every try returns null and writes nothing', async (t) => {
  const { add, value, reads } = given({ others: 3 });
  t.is(await add(), null);
  t.is(reads(), 3);
  t.deepEqual(await value(), { n: 300 });
});

test('Changes at the same moment are all applied', async (t) => {
  const { add, value } = given();
  await Promise.all(Array.from({ length: 20 }, () => add({ tries: 20 })));
  t.deepEqual(await value(), { n: 20 });
});

test('A change may keep a record as it is, remove it, and let it expire', async (t) => {
  const { store, memory } = given();
  const tries = 1;
  const kept = await changeRecord(store, counter, () => ({ keep: 'as it is' }), { tries });
  t.deepEqual(kept, { kept: 'as it is' });
  t.is(await memory.get(key), null);
  const expiresAt = new Date('2100-01-01T00:00:00.000Z');
  await changeRecord(store, counter, () => ({ write: { n: 1 }, expiresAt, result: null }), { tries });
  t.deepEqual((await memory.get(key))?.expiresAt, expiresAt);
  const removed = await changeRecord(store, counter, () => ({ write: null, result: null }), { tries });
  t.deepEqual(removed, { version: 'removed', result: null });
  t.is(await memory.get(key), null);
});

test('A change that was handed the record does not read it first', async (t) => {
  const { add, memory, reads, value } = given();
  t.is((await add({ first: null }))?.result, null);
  t.is(reads(), 0);
  t.is((await add({ first: await memory.get(key) }))?.result, 1);
  t.is(reads(), 0);
  // One that is wrong about the record reads it again.
  t.is((await add({ first: null }))?.result, 2);
  t.is(reads(), 1);
  t.deepEqual(await value(), { n: 3 });
});

test('An unknown outcome goes to the caller, or the change is decided again on what is stored', async (t) => {
  const throwing = given({ unknown: 1 });
  await t.throwsAsync(throwing.add(), { instanceOf: OutcomeUnknown });
  t.deepEqual(await throwing.value(), { n: 1 });
  const retrying = given({ unknown: 1 });
  t.is((await retrying.add({ unknownOutcome: 'retry' }))?.result, 1);
  t.deepEqual(await retrying.value(), { n: 2 });
});

test('What a change throws goes to the caller, as does a record of another shape', async (t) => {
  const { store, memory, add } = given();
  const failing = changeRecord(store, counter, () => Promise.reject(new TypeError('no')), { tries: 3 });
  await t.throwsAsync(failing, { instanceOf: TypeError });
  await memory.compareAndSet(key, null, { other: 1 });
  await t.throwsAsync(add(), { instanceOf: z.ZodError });
});
