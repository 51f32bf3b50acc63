import test from 'ava';
import { makeNodeCheckReader } from '../../projections/nodes/peer-nodes/checks.js';
import { nodeCheckKey } from '../../src/areas/nodes/domain/node/fold.js';
import type { StateStore } from '../../src/event-sourcing/ports/state-store.js';
import { partial } from '../support/fakes/partial.js';

const check = {
  failures: 0,
  successes: 2,
  last_checked_at: '2026-01-02T03:04:05.000Z',
  sequence: 7,
  status: 'healthy',
} as const;

/** A store whose reads end when the test says so. */
function given() {
  const ends: (() => void)[] = [];
  const stateStore = partial<StateStore>({
    list: () =>
      new Promise((resolve) => {
        ends.push(() => resolve([{ key: nodeCheckKey('n1'), value: check, revision: '1' }] as never));
      }),
  });
  return { ends, stateStore };
}

test('A read of the counters that takes longer than a second is used, and has no second read beside it', async (t) => {
  let nowMs = 0;
  const { ends, stateStore } = given();
  const reader = makeNodeCheckReader({ stateStore, clock: { steadyMs: () => nowMs } });
  // When callers come every 0.7 s while a read takes 2.1 s
  const callers = [];
  for (; nowMs <= 2_100; nowMs += 700) callers.push(reader.all());
  t.is(ends.length, 1);
  ends[0]?.();
  // Then all of them get its counters
  for (const { byNode } of await Promise.all(callers)) t.deepEqual(byNode.get('n1'), check);
  // And the next caller starts a read
  const later = reader.all();
  t.is(ends.length, 2);
  ends[1]?.();
  await later;
});

test('A read of the counters hides nothing that its process counted meanwhile', async (t) => {
  // Given a read under way
  const { ends, stateStore } = given();
  const reader = makeNodeCheckReader({ stateStore, clock: { steadyMs: () => 0 } });
  const reading = reader.all();
  // When a known and a new node are checked before it ends
  const newer = { ...check, sequence: 8 };
  reader.note('n1', newer);
  reader.note('n2', check);
  ends[0]?.();
  // Then both are shown
  const { byNode } = await reading;
  t.deepEqual([byNode.get('n1'), byNode.get('n2')], [newer, check]);
});
