import test from 'ava';
import { makeLiveTail } from '../../../src/event-sourcing/feeding/live-tail.js';
import { logPageBytesMax } from '../../../src/event-sourcing/ports/event-store.js';
import type { LogEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { partial } from '../../support/fakes/partial.js';

const eventBytes = 200_000;

function makeRecord(number: number): { readonly position: string; readonly event: LogEvent } {
  const position = String(number).padStart(20, '0');
  const data = 'x'.repeat(eventBytes - 2 - '{}'.length);
  return { position, event: partial<LogEvent>({ position, data: data as never, metadata: {} as never }) };
}

test('The events of a live subscription wait within 2 MiB, and a page takes them with their size', (t) => {
  const tail = makeLiveTail();
  tail.begin(null);
  // Given events until the tail is full
  let taken = 0;
  while (tail.receive(makeRecord(taken + 1))) taken += 1;
  t.is(taken, Math.ceil(logPageBytesMax / eventBytes));
  // When a page takes them, then the page has their size, and there is room again
  const page = tail.take(makeRecord(1).position);
  t.deepEqual([page?.events.length, page?.bytes], [taken - 1, (taken - 1) * eventBytes]);
  t.true(tail.receive(makeRecord(taken + 2)));
  t.is(tail.take(null)?.bytes, eventBytes);
});

test('A subscription that begins again finds an empty tail', (t) => {
  const tail = makeLiveTail();
  tail.begin(null);
  for (let number = 1; tail.receive(makeRecord(number)); number += 1);
  tail.end();
  t.false(tail.isLive());
  tail.begin(null);
  t.true(tail.receive(makeRecord(1)));
  t.is(tail.take(null)?.events.length, 1);
});
