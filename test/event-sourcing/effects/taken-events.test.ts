import test from 'ava';
import { makeTakenEvents } from '../../../src/event-sourcing/effects/take-back.js';
import { recordEvents, recordedAt } from '../../support/given/given-events.js';
import { counterAggregate } from '../../support/kernel/counters.js';

test('The progress of a reaction keeps no data of the events that it has passed', (t) => {
  // Given three events, of which the first stays open
  const opened = Array.from({ length: 3 }, (_, n) => ({
    type: 'CounterOpened' as const,
    data: { label: `${n}` },
  }));
  const events = recordEvents(counterAggregate, 'c1', opened);
  const progress = makeTakenEvents(null);
  for (const event of events) progress.take({ position: `${event.revision}`, lastEvent: event }, event);
  for (const event of events.slice(1)) progress.settle(event);
  t.deepEqual([progress.ahead(), progress.open(), progress.position()], [3, 1, null]);
  // When it settles, and twice
  for (const event of events) progress.settle(event);
  // Then the checkpoint passes all, with the place of the last one alone
  t.deepEqual([progress.ahead(), progress.open(), progress.position()], [0, 0, '2']);
  const { id = '' } = events[2] ?? {};
  t.deepEqual(progress.lastEvent(), { stream: 'counter-c1', revision: 2n, id, recordedAt: recordedAt(2) });
});
