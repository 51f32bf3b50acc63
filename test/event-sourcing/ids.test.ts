import test from 'ava';
import { v5, validate, version } from 'uuid';
import { derivedId, eventId } from '../../src/event-sourcing/ids.js';

const commandId = '018f0000-0000-7000-8000-000000000001';
const time = new Date('2026-01-02T03:04:05.678Z');

test('the id of an event is a UUID of version 5 that a repetition finds again', (t) => {
  const id = eventId(commandId, 'counter-c1', 0);
  t.true(validate(id));
  t.is(version(id), 5);
  t.is(eventId(commandId, 'counter-c1', 0), id);
  // Computed with Python's uuid.uuid5 and written down, since a release that made other ids would not recognise what the one before had appended.
  t.is(id, '8beb42d0-c9ea-53c4-9936-1eb68aacd21c');
});

test('ids of events are the library’s of our namespace, whatever the names', (t) => {
  for (let n = 0; n < 2_000; n += 1) {
    const stream = `counter-${'é'.repeat(n % 5)}${n}`;
    const name = `${commandId}/${stream}/0`;
    t.is(eventId(commandId, stream, 0), v5(name, '6f1c1f5e-9a83-4c0f-9f8e-0c6d6a3b7a51'));
  }
});

test('another command, stream or place makes another id', (t) => {
  const ids = [
    eventId(commandId, 'counter-c1', 0),
    eventId(commandId, 'counter-c1', 1),
    eventId(commandId, 'counter-c2', 0),
    eventId('018f0000-0000-7000-8000-000000000002', 'counter-c1', 0),
    // An id that ends in a digit does not run into the index.
    eventId(commandId, 'counter-c', 10),
    eventId(commandId, 'counter-c1', 10),
  ];
  t.is(new Set(ids).size, ids.length);
});

test('the id of what a command makes is a UUID of version 7 with the time of the command', (t) => {
  const id = derivedId({ commandId, time }, 'storage');
  t.true(validate(id));
  t.is(version(id), 7);
  t.is(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), time.getTime());
  t.is(derivedId({ commandId, time }, 'storage'), id);
});

test('labels and commands tell apart what is made in the same millisecond', (t) => {
  const ids = new Set<string>();
  for (let n = 0; n < 1_000; n += 1) {
    const command = `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`;
    for (const label of ['user', 'project']) ids.add(derivedId({ commandId: command, time }, label));
  }
  t.is(ids.size, 2_000);
});

test('made ids sort by time as text', (t) => {
  const times = [0, 1, 2, 1_000, 86_400_000, 40_000_000_000].map((ms) => new Date(time.getTime() + ms));
  const ids = times.map((at, index) =>
    derivedId({ commandId: `018f0000-0000-7000-8000-00000000000${index}`, time: at }, 'storage'),
  );
  t.deepEqual(ids.toSorted(), ids);
});
