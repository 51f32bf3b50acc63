import type { AllStreamRecordedEvent } from '@eventstore/db-client';
import test from 'ava';
import { StoreDamaged } from '../../../src/event-sourcing/ports/errors.js';
import { makeLogGuard } from '../../../src/stores/eventstoredb/same-log/log-guard.js';
import { formatPosition } from '../../../src/stores/eventstoredb/same-log/positions.js';
import type { Reads } from '../../../src/stores/eventstoredb/calls/reads.js';
import { makeTestClock } from '../../support/fakes/clock.js';
import { partial } from '../../support/fakes/partial.js';

const { signal } = new AbortController();
const position = { commit: 7n, prepare: 7n };
const known = { name: 'thing-1', revision: 0n, id: 'known', position: formatPosition(position) };

/** A guard of a log with this id, which holds a record of this event id at the known position. */
function given({ logId = 'ours', eventId = 'known' }: { logId?: string; eventId?: string }) {
  const fatal: Error[] = [];
  const records = [partial<AllStreamRecordedEvent>({ id: eventId, position })];
  const guard = makeLogGuard({
    reads: partial<Reads>({ all: () => Promise.resolve({ records, sizes: [1], ended: true }) }),
    storedLogId: () => Promise.resolve(logId),
    ...{ clock: makeTestClock(), random: () => 0, withinLimit: (run) => run(signal), shortLogMs: 0 },
    onFatal: (error) => fatal.push(error),
  });
  guard.identified('ours');
  guard.holds(known);
  return { guard, fatal };
}

test('A check of the same log reports no damage', async (t) => {
  const { guard, fatal } = given({});
  await guard.verify(signal);
  t.deepEqual(fatal, []);
});

for (const [what, log] of [
  ['the log of another service', { logId: 'theirs' }],
  ['a log with another event at the last known position', { eventId: 'another' }],
] as const) {
  test(`A check reports once that the server holds ${what}`, async (t) => {
    const { guard, fatal } = given(log);
    const error = await t.throwsAsync(guard.verify(signal), { instanceOf: StoreDamaged });
    const again = await t.throwsAsync(guard.verify(signal));
    t.is(again, error);
    t.deepEqual(fatal, [error]);
  });
}

test('A check that ends after the stop reports no damage', async (t) => {
  const { guard, fatal } = given({ logId: 'theirs' });
  guard.stop();
  await t.throwsAsync(guard.verify(signal), { instanceOf: StoreDamaged });
  t.deepEqual(fatal, []);
});
