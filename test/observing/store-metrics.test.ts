import test from 'ava';
import { Registry } from 'prom-client';
import {
  OutcomeUnknown,
  StoreUnavailable,
  StreamDamaged,
  WrongExpectedRevision,
} from '../../src/event-sourcing/ports/errors.js';
import type { NewEvent } from '../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import type { StateStore } from '../../src/event-sourcing/ports/state-store.js';
import { observeStore } from '../../src/observing/stores/observed-store.js';
import { makeStoreMetrics } from '../../src/observing/stores/store-metrics.js';
import { partial } from '../support/fakes/partial.js';

const event = partial<NewEvent>({ type: 'Happened' });

/** Stores whose calls end as the test says, 20 ms after they began. */
function given() {
  const times = { nowMs: 0 };
  const metrics = makeStoreMetrics(() => times.nowMs);
  const registry = new Registry();
  metrics.register(registry);
  const outcome: { error: Error | null; version: string | null } = { error: null, version: '1' };
  const end = <Result>(result: Result): Promise<Result> => {
    times.nowMs += 20;
    return outcome.error === null ? Promise.resolve(result) : Promise.reject(outcome.error);
  };
  const events = observeStore(
    partial<EventStore>({ append: () => end({ revision: 0n, position: 'a' }), read: () => end([]) }),
    [metrics.of('events')],
  );
  const state = observeStore(
    partial<StateStore>({
      get: () => end(null),
      list: () => end([]),
      compareAndSet: () => end(outcome.version),
    }),
    [metrics.of('state')],
  );
  return { registry, outcome, events, state, metrics };
}

test('Appends are measured by outcome, and conflicts are counted', async (t) => {
  const { registry, outcome, events } = given();
  const append = (error: Error | null): Promise<unknown> => {
    outcome.error = error;
    return events.append('counter-1', 'no-stream', [event]).catch(() => null);
  };
  await append(null);
  await append(null);
  await append(new WrongExpectedRevision('counter-1', 'no-stream'));
  await append(new StoreUnavailable('away'));
  await append(new OutcomeUnknown('no answer'));
  await append(new Error('a defect'));
  outcome.error = null;
  await events.append('counter-1', 'no-stream', []);
  const text = await registry.metrics();
  for (const [kind, count] of Object.entries({
    ...{ appended: 2, conflict: 1, unavailable: 1, unknown: 1, failed: 1 },
  })) {
    t.true(text.includes(`stowage_append_duration_seconds_count{outcome="${kind}"} ${count}\n`), kind);
  }
  t.true(text.includes('stowage_append_duration_seconds_sum{outcome="appended"} 0.04\n'));
  t.true(text.includes('stowage_append_conflicts_total 1\n'));
});

test('Calls to the state store are measured by call and outcome, and a waiting write is pending', async (t) => {
  const { registry, outcome, state } = given();
  const writing = state.compareAndSet('claim/1', null, {});
  t.true((await registry.metrics()).includes('stowage_writes_pending{store="state"} 1\n'));
  await writing;
  outcome.version = null;
  await state.compareAndSet('claim/1', null, {});
  outcome.error = new StoreUnavailable('away');
  await t.throwsAsync(() => state.get('claim/1'), { instanceOf: StoreUnavailable });
  const text = await registry.metrics();
  for (const labels of [
    'call="compareAndSet",outcome="done"',
    'call="compareAndSet",outcome="refused"',
    'call="get",outcome="unavailable"',
  ]) {
    t.true(text.includes(`stowage_state_store_call_duration_seconds_count{${labels}} 1\n`), labels);
  }
  t.true(text.includes('stowage_writes_pending{store="state"} 0\n'));
});

test('Damaged streams are counted once each, whether a read, an append or the reader of the log finds them', async (t) => {
  const { registry, outcome, events, metrics } = given();
  const count = async (): Promise<string | undefined> =>
    /^stowage_damaged_streams (\d+)$/m.exec(await registry.metrics())?.[1];
  const damaged = (stream: string): StreamDamaged => new StreamDamaged(stream, 'it was truncated');
  t.is(await count(), '0');
  outcome.error = damaged('counter-1');
  await t.throwsAsync(events.read('counter-1'));
  await t.throwsAsync(events.read('counter-1', { from: 1n }));
  t.is(await count(), '1');
  outcome.error = damaged('counter-2');
  await t.throwsAsync(events.append('counter-2', 'no-stream', [event]));
  t.is(await count(), '2');
  metrics.streamDamaged(damaged('counter-2'));
  metrics.streamDamaged(damaged('counter-3'));
  t.is(await count(), '3');
  outcome.error = new StoreUnavailable('away');
  await t.throwsAsync(events.read('counter-4'));
  t.is(await count(), '3');
  for (let number = 0; number < 1_100; number += 1) metrics.streamDamaged(damaged(`other-${number}`));
  t.is(await count(), '1000');
});
