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

test('The events of a live subscription wait within 2 MiB, and more of them must be read', (t) => {
  const tail = makeLiveTail();
  tail.begin(null);
  // Given events until the tail is full
  const room = Math.ceil(logPageBytesMax / eventBytes);
  for (let number = 1; number <= room; number += 1) t.true(tail.receive(makeRecord(number)));
  // When a page takes them, then it has their size
  const first = makeRecord(1).position;
  const page = tail.take(first);
  t.deepEqual([page?.events.length, page?.bytes], [room - 1, (room - 1) * eventBytes]);
  // When one more than the room comes, then all of them are dropped, and it goes on after them
  for (let number = room + 1; number <= 2 * room + 1; number += 1) t.true(tail.receive(makeRecord(number)));
  const dropped = makeRecord(2 * room + 1).position;
  t.true(tail.isAfter(page?.cursor ?? null));
  t.is(tail.take(page?.cursor ?? null), null);
  t.true(tail.receive(makeRecord(2 * room + 2)));
  t.is(tail.take(page?.cursor ?? null), null);
  t.is(tail.take(dropped)?.bytes, eventBytes);
});

test('A subscription that begins again finds an empty tail', (t) => {
  const tail = makeLiveTail();
  tail.begin(null);
  t.true(tail.receive(makeRecord(1)));
  tail.end();
  t.false(tail.isLive());
  tail.begin(null);
  t.true(tail.receive(makeRecord(2)));
  t.is(tail.take(null)?.events.length, 1);
});
