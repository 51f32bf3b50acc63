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
    ...{ name, atOnceMax: 2, spacingMs: 0, graceMs: 20 },
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
    signal.addEventListener('abort', () => {
      resolve(null);
    });
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
  await put('outbox/mail/later', '2999-01-01T00:00:00.000Z');
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
