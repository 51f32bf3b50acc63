import test from 'ava';
import { type Lane, makeOutbox } from '../../../src/event-sourcing/effects/outbox.js';
import { realClock } from '../../support/fakes/clock.js';
import { makeMemoryStateStore } from '../../support/fakes/memory-state-store.js';
import { eventually } from '../../support/eventually.js';

const now = '2026-01-02T03:04:05.000Z';

/** Makes an outbox with records, and lanes that note their attempts. */
async function given(keys: readonly string[]) {
  const stateStore = makeMemoryStateStore({ clock: realClock });
  const put = (key: string, not_before = now) =>
    stateStore.compareAndSet(key, null, { not_before, since: now });
  for (const key of keys) await put(key);
  const attempts: string[] = [];
  const errors: string[] = [];
  const outbox = makeOutbox({
    ...{ stateStore, clock: realClock },
    onRetry: (lane, error) => errors.push(`${lane}: ${String(error)}`),
  });
  const lane = (name: string, attempt: Lane['attempt']): Lane => ({
    ...{ name, atOnce: { written: 1, found: 2 }, spacingMs: 0, longestMs: 3_600_000, graceMs: 20 },
    attempt: (key, signal) => {
      attempts.push(key);
      return attempt(key, signal);
    },
  });
  const remove = async (key: string): Promise<null> => {
    const found = await stateStore.get(key);
    if (found !== null) await stateStore.compareAndSet(key, found.version, null);
    return null;
  };
  return { stateStore, outbox, lane, put, attempts, errors, remove };
}

/** An attempt that ends with its signal only. */
const hangs: Lane['attempt'] = (_, signal) =>
  new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(null));
  });

test('A lane whose attempts hang holds up no other, and its close cuts them off', async (t) => {
  const { outbox, lane, attempts, remove } = await given([
    ...Array.from({ length: 9 }, (_, n) => `outbox/slow/${n}`),
    'outbox/fast/1',
  ]);
  const closeSlow = outbox.open(lane('slow', hangs));
  const closeFast = outbox.open(lane('fast', remove));
  await eventually('the fast lane is served', () => attempts.includes('outbox/fast/1'));
  t.is(attempts.filter((key) => key.startsWith('outbox/slow')).length, 2);
  t.is(outbox.figures('slow')?.records, 9);
  await Promise.all([closeSlow(), closeFast()]);
  t.is(outbox.figures('slow'), null);
  t.is(attempts.length, 3);
});

test('A new record does not wait for those that a look has found, and those that wait longest come first', async (t) => {
  // Given a lane that has found more records than it attempts at once, and another with messages that are due at once
  const { outbox, lane, put, attempts } = await given([]);
  for (const [n, key] of ['c', 'b', 'a'].entries())
    await put(`outbox/hanging/${key}`, `2026-01-0${n + 1}T00:00:00.000Z`);
  t.teardown(outbox.open(lane('hanging', hangs)));
  await eventually('attempts', () => attempts.length === 2);
  // When a record is written
  await put('outbox/hanging/new');
  outbox.wake('hanging', 'outbox/hanging/new');
  // Then it is attempted, and the others are in the order of their times
  await eventually('attempt of the new one', () => attempts.length === 3);
  t.deepEqual(
    attempts,
    ['c', 'b', 'new'].map((key) => `outbox/hanging/${key}`),
  );
});

test('A record with many messages lets others have their turn after each', async (t) => {
  const keys = ['a', 'b', 'c', 'd'].map((key) => `outbox/many/${key}`);
  const { outbox, lane, attempts } = await given(keys);
  const left = new Map(keys.map((key) => [key, 3]));
  const attempt: Lane['attempt'] = (key) => {
    const count = (left.get(key) ?? 0) - 1;
    left.set(key, count);
    return Promise.resolve(count > 0 ? new Date() : new Date('2999-01-01T00:00:00.000Z'));
  };
  t.teardown(outbox.open({ ...lane('many', attempt), atOnce: { written: 1, found: 1 } }));
  await eventually('all messages', () => [...left.values()].every((count) => count <= 0));
  t.deepEqual(attempts, [...keys, ...keys, ...keys]);
});

test('The attempts of a lane begin at least its spacing apart', async (t) => {
  const { outbox, lane, attempts, remove } = await given(['outbox/mail/1', 'outbox/mail/2']);
  const startedMs = performance.now();
  t.teardown(outbox.open({ ...lane('mail', remove), spacingMs: 500 }));
  await eventually('both attempts', () => attempts.length === 2);
  // The clock of the outbox counts whole milliseconds.
  t.true(performance.now() - startedMs >= 498);
});

test('A record is attempted when it is written, again when it is due, and after an error', async (t) => {
  const { outbox, lane, put, attempts, errors, remove } = await given([]);
  let fails = true;
  const close = outbox.open(
    lane('mail', (key) => {
      if (attempts.length === 1) return Promise.resolve(new Date());
      if (!fails) return remove(key);
      fails = false;
      return Promise.reject(new Error('away'));
    }),
  );
  t.teardown(close);
  await put('outbox/mail/1');
  outbox.wake('mail', 'outbox/mail/1');
  await eventually('the record is done', () => attempts.length === 3);
  t.deepEqual(errors, ['mail: Error: away']);
});

test('A record that is not due waits, and one that is woken during its attempt is attempted again', async (t) => {
  const { outbox, lane, put, attempts } = await given([]);
  await put('outbox/mail/later', new Date(Date.now() + 1_800_000).toISOString());
  await put('outbox/mail/now');
  const close = outbox.open(
    lane('mail', (key) => {
      if (attempts.length === 1) outbox.wake('mail', key);
      return Promise.resolve(null);
    }),
  );
  await eventually('it is attempted again', () => attempts.length >= 2);
  await close();
  t.deepEqual([...new Set(attempts)], ['outbox/mail/now']);
});

test('A record that was put off while the clock was far ahead is due, and one with a rightful wait is not', async (t) => {
  const { outbox, lane, put, attempts, remove } = await given([]);
  const inMinutes = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString();
  await put('outbox/mail/waits', inMinutes(59));
  await put('outbox/mail/ahead', inMinutes(365 * 24 * 60));
  const close = outbox.open(lane('mail', remove));
  await eventually('an attempt', () => attempts.length > 0);
  await close();
  t.deepEqual(attempts, ['outbox/mail/ahead']);
});
