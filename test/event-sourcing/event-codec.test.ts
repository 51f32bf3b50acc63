import test from 'ava';
import fc from 'fast-check';
import { z } from 'zod';
import type { JsonObject, StoredEvent } from '../../src/event-sourcing/domain-event.js';
import { UndecodableEvent } from '../../src/event-sourcing/errors.js';
import { makeEventCodec } from '../../src/event-sourcing/event-codec.js';
import { anyText } from '../support/any-text.js';
import { counterAggregate, counterCodec, type CounterEvent } from '../support/counter-aggregate.js';
import { recordEvents } from '../support/given-events.js';

function stored(type: string, data: JsonObject, revision = 0n): StoredEvent {
  const [event] = recordEvents(counterAggregate, 'c1', [{ type: 'CounterClosed', data: {} }]);
  if (event === undefined) throw new Error('an event was recorded');
  return { ...event, type, data, revision };
}

// Version 1 kept pence in a string, version 2 whole pounds, and now there are pence again, with their currency.
const prices = makeEventCodec(
  { 'PriceSet.v3': z.strictObject({ pence: z.int(), currency: z.string() }) },
  {
    PriceSet: (data) => ({ type: 'PriceSet.v2', data: { pounds: Number(data['pence']) / 100 } }),
    'PriceSet.v2': ({ pounds }) => ({
      type: 'PriceSet.v3',
      data: { pence: Number(pounds) * 100, currency: 'GBP' },
    }),
  },
);

const anyEvent: fc.Arbitrary<CounterEvent> = fc.oneof(
  fc.record({
    type: fc.constant('CounterOpened' as const),
    data: fc.record({ label: anyText() }, { noNullPrototype: true }),
  }),
  fc.record({
    type: fc.constant('CounterAdded' as const),
    data: fc.record({ amount: fc.integer(), operation: fc.string() }, { noNullPrototype: true }),
  }),
  fc.constant({ type: 'CounterClosed' as const, data: {} }),
);

test('whatever is encoded decodes to the same, with what its record tells', (t) => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const [record] = recordEvents(counterAggregate, 'c1', [event]);
      if (record === undefined) throw new Error('an event was recorded');
      const decoded = counterCodec.decode(record);
      t.deepEqual({ type: decoded.type, data: decoded.data } as CounterEvent, event);
      t.is(decoded.stream, 'counter-c1');
      t.is(decoded.revision, 0n);
      t.is(decoded.id, record.id);
      t.is(decoded.time, record.metadata.time);
      t.is(decoded.recordedAt, record.recordedAt);
    }),
    { seed: 1, numRuns: 200 },
  );
});

test('a stream of three versions reads as one', (t) => {
  const stream = [
    stored('PriceSet', { pence: '1500' }, 0n),
    stored('PriceSet.v2', { pounds: 16 }, 1n),
    stored('PriceSet.v3', { pence: 1_750, currency: 'EUR' }, 2n),
  ];
  const read = stream.map((event) => prices.decode(event));
  t.deepEqual(
    read.map(({ type, data, revision }) => ({ type, data, revision })),
    [
      { type: 'PriceSet.v3', data: { pence: 1_500, currency: 'GBP' }, revision: 0n },
      { type: 'PriceSet.v3', data: { pence: 1_600, currency: 'GBP' }, revision: 1n },
      { type: 'PriceSet.v3', data: { pence: 1_750, currency: 'EUR' }, revision: 2n },
    ],
  );
});

test('a codec lists the stored types that it reads, retired ones included', (t) => {
  t.deepEqual([...prices.types].sort(), ['PriceSet', 'PriceSet.v2', 'PriceSet.v3']);
});

test('an unknown type is an error that names type and place', (t) => {
  const error = t.throws(() => counterCodec.decode(stored('CounterPainted', {}, 7n)), {
    instanceOf: UndecodableEvent,
  });
  t.regex(error.message, /CounterPainted/);
  t.regex(error.message, /counter-c1 at revision 7/);
});

test('a name of every object is not thereby a type', (t) => {
  for (const type of ['constructor', '__proto__', 'toString']) {
    t.throws(() => counterCodec.decode(stored(type, {})), { instanceOf: UndecodableEvent });
  }
});

const secret = 'hunter2-canary';
const unfit: readonly [string, JsonObject][] = [
  ['CounterOpened', { label: [secret] }],
  ['CounterOpened', { label: 'a', [secret]: secret }],
  ['CounterAdded', { amount: secret, operation: 'a' }],
  ['CounterAdded', { amount: 1.5, operation: secret }],
  ['CounterClosed', { left_over: secret }],
];

for (const [type, data] of unfit) {
  test(`an event that does not fit its schema names its fields and no value: ${JSON.stringify(data)}`, (t) => {
    const event = stored(type, data);
    const decoding = t.throws(() => counterCodec.decode(event), { instanceOf: UndecodableEvent });
    t.true(decoding.message.includes(type));
    t.regex(decoding.message, /run the version that wrote it, or a newer one$/);
    t.false(allTextOf(decoding).includes(secret));
  });
}

test('what would not be read is not written', (t) => {
  // The types forbid it; a mistake in data that came from outside does not ask them.
  const opened = { type: 'CounterOpened', data: { label: 5 } } as unknown as CounterEvent;
  t.throws(() => counterCodec.encode(opened), { instanceOf: UndecodableEvent });
});

test('an upcaster that fails is an undecodable event that keeps the value to itself', (t) => {
  const codec = makeEventCodec(
    { 'Paid.v2': z.strictObject({ pence: z.int() }) },
    { Paid: ({ pence }) => ({ type: 'Paid.v2', data: { pence: Number(BigInt(z.string().parse(pence))) } }) },
  );
  const error = t.throws(() => codec.decode(stored('Paid', { pence: secret }, 3n)), {
    instanceOf: UndecodableEvent,
  });
  t.regex(error.message, /Paid .*counter-c1 at revision 3/);
  t.false(allTextOf(error).includes(secret));
});

test('upcasters that lead in a circle end', (t) => {
  const codec = makeEventCodec(
    { Now: z.strictObject({}) },
    { A: (data) => ({ type: 'B', data }), B: (data) => ({ type: 'A', data }) },
  );
  t.throws(() => codec.decode(stored('A', {})), { instanceOf: UndecodableEvent, message: /circle/ });
});

/** Everything of an error that a logger might write. */
function allTextOf(error: Error): string {
  return `${String(error)} ${error.stack ?? ''} ${JSON.stringify(error)} ${String(error.cause)}`;
}
