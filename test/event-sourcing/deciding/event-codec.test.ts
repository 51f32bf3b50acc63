import test from 'ava';
import fc from 'fast-check';
import { z } from 'zod';
import type { JsonObject, StoredEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { UndecodableEvent } from '../../../src/event-sourcing/ports/errors.js';
import { makeEventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import { anyText } from '../../support/examples/any-text.js';
import { counterAggregate, counterCodec, type CounterEvent } from '../../support/kernel/counters.js';
import { recordEvents } from '../../support/given/given-events.js';

function stored(type: string, data: JsonObject, revision = 0n): StoredEvent {
  const [event] = recordEvents(counterAggregate, 'c1', [{ type: 'CounterClosed', data: {} }]);
  if (event === undefined) throw new Error('no event was recorded');
  return { ...event, type, data, revision };
}

// Version 1 kept pence in a string, version 2 whole pounds. Version 3 keeps pence with their currency.
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

test('An encoded event decodes to the same event with the fields of its record', (t) => {
  fc.assert(
    fc.property(anyEvent, (event) => {
      const [record] = recordEvents(counterAggregate, 'c1', [event]);
      if (record === undefined) throw new Error('no event was recorded');
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

test('A stream of three versions reads as one', (t) => {
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

test('An event of before a field was added reads with the default, and a new one is stored with its value', (t) => {
  const codec = makeEventCodec({
    Shared: z.strictObject({ label: z.string(), may_print: z.boolean().default(true) }),
  });
  t.deepEqual(codec.decode(stored('Shared', { label: 'a' })).data, { label: 'a', may_print: true });
  const event = { type: 'Shared', data: { label: 'b', may_print: false } } as const;
  t.deepEqual(codec.encode(event), event);
});

test('A codec lists the stored types that it reads, including retired ones', (t) => {
  t.deepEqual([...prices.types].sort(), ['PriceSet', 'PriceSet.v2', 'PriceSet.v3']);
});

test('An unknown type is an error that names the type and the position', (t) => {
  const error = t.throws(() => counterCodec.decode(stored('CounterPainted', {}, 7n)), {
    instanceOf: UndecodableEvent,
  });
  t.regex(error.message, /CounterPainted/);
  t.regex(error.message, /counter-c1 at revision 7/);
});

test('A property name of every object is not a type', (t) => {
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
  test(`An event that does not match its schema names its fields and no value: ${JSON.stringify(data)}`, (t) => {
    const event = stored(type, data);
    const decoding = t.throws(() => counterCodec.decode(event), { instanceOf: UndecodableEvent });
    t.true(decoding.message.includes(type));
    t.regex(decoding.message, /run the version that wrote it, or a newer one$/);
    t.false(allTextOf(decoding).includes(secret));
  });
}

test('An event that could not be read is not written', (t) => {
  // The types forbid this event, but they do not check data from outside.
  const opened = { type: 'CounterOpened', data: { label: 5 } } as unknown as CounterEvent;
  t.throws(() => counterCodec.encode(opened), { instanceOf: UndecodableEvent });
});

test('An upcaster that fails leads to an undecodable event whose error contains no value', (t) => {
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

test('Upcasters in a cycle end with an error', (t) => {
  const codec = makeEventCodec(
    { Now: z.strictObject({}) },
    { A: (data) => ({ type: 'B', data }), B: (data) => ({ type: 'A', data }) },
  );
  t.throws(() => codec.decode(stored('A', {})), { instanceOf: UndecodableEvent, message: /circle/ });
});

/** Returns every text of an error that a logger might write. */
function allTextOf(error: Error): string {
  return `${String(error)} ${error.stack ?? ''} ${JSON.stringify(error)} ${String(error.cause)}`;
}
