import test from 'ava';
import { v5, validate, version } from 'uuid';
import { derivedId, eventId } from '../../../src/event-sourcing/deciding/command-handler.js';

const commandId = '018f0000-0000-7000-8000-000000000001';
const time = new Date('2026-01-02T03:04:05.678Z');
const content = { type: 'CounterAdded', data: { amount: 1 } };

test('The id of an event is a UUID of version 5 that a repetition makes again', (t) => {
  const id = eventId(commandId, 'counter-c1', 0, content);
  t.true(validate(id));
  t.is(version(id), 5);
  t.is(eventId(commandId, 'counter-c1', 0, { ...content }), id);
  // Python's uuid.uuid5 computed this id. A release with other ids would not recognise the appends of the earlier one.
  t.is(id, '924611d8-5ced-5e33-b80e-d8c2ddb628a3');
});

test('The ids of events equal those of the library in our namespace', (t) => {
  for (let n = 0; n < 2_000; n += 1) {
    const stream = `counter-${'é'.repeat(n % 5)}${n}`;
    const name = `${commandId}/${stream}/0/CounterAdded/{"amount":1}`;
    t.is(eventId(commandId, stream, 0, content), v5(name, '6f1c1f5e-9a83-4c0f-9f8e-0c6d6a3b7a51'));
  }
});

test('Another command, stream, index or content makes another id', (t) => {
  const ids = [
    eventId(commandId, 'counter-c1', 0, content),
    eventId(commandId, 'counter-c1', 1, content),
    eventId(commandId, 'counter-c2', 0, content),
    eventId('018f0000-0000-7000-8000-000000000002', 'counter-c1', 0, content),
    // The index does not run into the last digit of a stream id.
    eventId(commandId, 'counter-c', 10, content),
    eventId(commandId, 'counter-c1', 10, content),
    eventId(commandId, 'counter-c1', 0, { ...content, data: { amount: 2 } }),
    eventId(commandId, 'counter-c1', 0, { ...content, type: 'CounterOpened' }),
  ];
  t.is(new Set(ids).size, ids.length);
});

test('The id of a resource is a UUID of version 7 with the time of its command', (t) => {
  const id = derivedId({ commandId, time }, 'storage');
  t.true(validate(id));
  t.is(version(id), 7);
  t.is(Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16), time.getTime());
  t.is(derivedId({ commandId, time }, 'storage'), id);
});

test('Ids of the same millisecond differ by label and command', (t) => {
  const ids = new Set<string>();
  for (let n = 0; n < 1_000; n += 1) {
    const command = `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`;
    for (const label of ['user', 'project']) ids.add(derivedId({ commandId: command, time }, label));
  }
  t.is(ids.size, 2_000);
});

test('The ids of resources sort by time as text', (t) => {
  const times = [0, 1, 2, 1_000, 86_400_000, 40_000_000_000].map((ms) => new Date(time.getTime() + ms));
  const ids = times.map((at, index) =>
    derivedId({ commandId: `018f0000-0000-7000-8000-00000000000${index}`, time: at }, 'storage'),
  );
  t.deepEqual(ids.toSorted(), ids);
});
