import type { ExecutionContext, TestFn } from 'ava';
import type { JsonObject, NewEvent } from '../../src/event-sourcing/ports/domain-event.js';
import {
  EventTooLarge,
  OutcomeUnknown,
  WrongExpectedRevision,
} from '../../src/event-sourcing/ports/errors.js';
import {
  type ExpectedRevision,
  maxAppendBytes,
  maxEventBytes,
} from '../../src/event-sourcing/ports/event-store.js';
import { type StoresUnderTest, makeEvent, makeEvents, uniqueStream } from './event-store-fixtures.js';

/** Tests streams: revisions, guarded and repeated appends, sizes, and the results of reads. */
export function eventStoreAppendContract(test: TestFn, deps: StoresUnderTest): void {
  const store = () => deps.harness().store;

  test('An absent stream reads as empty', async (t) => {
    t.deepEqual(await store().read(uniqueStream()), []);
    t.deepEqual(await store().read(uniqueStream(), { from: 7n, limit: 3 }), []);
  });

  test('An append of no events does nothing at any expected revision', async (t) => {
    const stream = uniqueStream();
    t.is(await store().append(stream, 'no-stream', []), null);
    t.is(await store().append(stream, 41n, []), null);
    t.deepEqual(await store().read(stream), []);
  });

  test('Revisions are bigints that count from 0 within the stream', async (t) => {
    const stream = uniqueStream();
    const first = await store().append(stream, 'no-stream', makeEvents(3));
    const second = await store().append(stream, 2n, makeEvents(2));
    t.is(first?.revision, 2n);
    t.is(second?.revision, 4n);
    t.deepEqual(
      (await store().read(stream)).map((event) => event.revision),
      [0n, 1n, 2n, 3n, 4n],
    );
  });

  test('An event reads back as it was appended, with the time that the store recorded', async (t) => {
    const stream = uniqueStream();
    const event = makeEvent({ data: { name: 'Ada', tags: ['a', 'b'] } });
    await store().append(stream, 'no-stream', [event]);
    const [stored] = await store().read(stream);
    if (stored === undefined) return t.fail();
    const { recordedAt, ...rest } = stored;
    t.deepEqual(rest, { ...event, stream, revision: 0n });
    t.true(recordedAt instanceof Date);
    t.false(Number.isNaN(recordedAt.getTime()));
  });

  const refused: readonly [what: string, length: number, expected: ExpectedRevision][] = [
    ['no stream when the stream exists', 2, 'no-stream'],
    ['an earlier revision', 2, 0n],
    ['a later revision', 2, 2n],
    ['a revision far beyond the last', 2, 2n ** 64n - 1n],
    ['a revision of an absent stream', 0, 0n],
  ];
  for (const [what, length, expected] of refused) {
    test(`The store refuses an append that expects ${what}, and writes nothing`, async (t) => {
      const stream = uniqueStream();
      await store().append(stream, 'no-stream', makeEvents(length));
      const before = await store().read(stream);
      const error = await t.throwsAsync(store().append(stream, expected, makeEvents(2)), {
        instanceOf: WrongExpectedRevision,
      });
      t.is(error.stream, stream);
      t.is(error.expected, expected);
      t.deepEqual(await store().read(stream), before);
    });
  }

  test('A repeated append with the same ids returns the revision and position of the first write', async (t) => {
    const stream = uniqueStream();
    const [created, followed] = [makeEvents(2), makeEvents(3)];
    const first = await store().append(stream, 'no-stream', created);
    const second = await store().append(stream, 1n, followed);
    await store().append(stream, 4n, makeEvents(1));
    t.deepEqual(await store().append(stream, 'no-stream', created), first);
    t.deepEqual(await store().append(stream, 1n, followed), second);
    t.is((await store().read(stream)).length, 6);
  });

  test('The store refuses a repeated append that has other ids, or more events than were written', async (t) => {
    const stream = uniqueStream();
    const written = makeEvents(2);
    const same = { ...makeEvent(), id: written[0]?.id ?? '' };
    await store().append(stream, 'no-stream', written);
    await refuses(t, stream, [same, makeEvent()]);
    await refuses(t, stream, [...written, makeEvent()]);
    t.is((await store().read(stream)).length, 2);
  });

  async function refuses(t: ExecutionContext, stream: string, events: NewEvent[]): Promise<void> {
    await t.throwsAsync(store().append(stream, 'no-stream', events), { instanceOf: WrongExpectedRevision });
  }

  test('Two concurrent appends with the same ids are written once, and their repetition has one outcome', async (t) => {
    const stream = uniqueStream();
    const events = makeEvents(2);
    // A server may drop the second one while it writes the first, and then does not know its outcome.
    const results = await Promise.allSettled([
      store().append(stream, 'no-stream', events),
      store().append(stream, 'no-stream', events),
    ]);
    const appended = await store().append(stream, 'no-stream', events);
    for (const result of results) {
      if (result.status === 'fulfilled') t.deepEqual(result.value, appended);
      else t.true(result.reason instanceof OutcomeUnknown);
    }
    t.true(results.some((result) => result.status === 'fulfilled'));
    t.is((await store().read(stream)).length, 2);
  });

  test('Further events are in the log where the store says so: only with the append, at their revision', async (t) => {
    const appended = async (stream: string, other: string, expectedOther: ExpectedRevision) => {
      const writes: string[] = [];
      const written = () => void writes.push(other);
      const further = () =>
        Promise.resolve({ stream: other, expected: expectedOther, events: makeEvents(2), written });
      const before = (await store().read(other)).length;
      const result = await store()
        .append(stream, 'no-stream', makeEvents(1), { further })
        .catch((error: unknown) => error);
      t.is((await store().read(other)).length, before + 2 * writes.length);
      return { isWritten: writes.length === 1, isRefused: result instanceof WrongExpectedRevision };
    };
    const [stream, other] = [uniqueStream(), uniqueStream()];
    // When the append is written and the other stream is not at its revision
    t.deepEqual(await appended(stream, other, 3n), { isWritten: false, isRefused: false });
    // When the append is refused
    t.deepEqual(await appended(stream, other, 'no-stream'), { isWritten: false, isRefused: true });
    // When both are at their revisions
    const both = await appended(uniqueStream(), other, 'no-stream');
    t.deepEqual(both, { isWritten: deps.harness().writesFurther === true, isRefused: false });
  });

  test('Of 50 concurrent appends that expect the same revision, the store writes exactly one, whole', async (t) => {
    const stream = uniqueStream();
    const attempts = Array.from({ length: 50 }, () => makeEvents(3));
    const results = await Promise.allSettled(
      attempts.map((events) => store().append(stream, 'no-stream', events)),
    );
    const winners = attempts.filter((_, index) => results[index]?.status === 'fulfilled');
    for (const result of results) {
      if (result.status === 'rejected') t.true(result.reason instanceof WrongExpectedRevision);
    }
    t.is(winners.length, 1);
    t.deepEqual(idsOf(await store().read(stream)), idsOf(winners[0] ?? []));
  });

  test('Concurrent appends to many streams are each written whole to their stream', async (t) => {
    const streams = Array.from({ length: 40 }, () => ({ name: uniqueStream(), events: makeEvents(3) }));
    await Promise.all(streams.map(({ name, events }) => store().append(name, 'no-stream', events)));
    for (const { name, events } of streams) {
      t.deepEqual(idsOf(await store().read(name)), idsOf(events));
    }
  });

  test('Streams whose names differ in case, or have a common beginning, are different streams', async (t) => {
    const stream = uniqueStream('thing-a');
    const names = [stream, stream.toUpperCase(), `${stream}-1`, `${stream}é`];
    for (const name of names) await store().append(name, 'no-stream', [makeEvent({ data: { name } })]);
    for (const name of names) {
      const events = await store().read(name);
      t.deepEqual(
        events.map((event) => [event.stream, event.data]),
        [[name, { name }]],
      );
    }
  });

  test('A read begins at `from` and returns at most `limit` events, 500 by default', async (t) => {
    const stream = uniqueStream();
    for (let page = 0n; page < 3n; page += 1n) {
      await store().append(stream, page === 0n ? 'no-stream' : page * 200n - 1n, makeEvents(200));
    }
    const revisions = async (options: { from?: bigint; limit?: number }) =>
      (await store().read(stream, options)).map((event) => Number(event.revision));
    t.deepEqual(await revisions({}), range(0, 500));
    t.deepEqual(await revisions({ from: 500n }), range(500, 600));
    t.deepEqual(await revisions({ from: 3n, limit: 4 }), range(3, 7));
    t.deepEqual(await revisions({ from: 598n, limit: 10 }), range(598, 600));
    t.deepEqual(await revisions({ from: 600n }), []);
  });

  test('An acknowledged append is stored after the store was closed and opened again, and can be repeated', async (t) => {
    const own = await deps.givenOwn(t);
    const stream = uniqueStream();
    const events = makeEvents(3);
    const appended = await own.store.append(stream, 'no-stream', events);
    const before = await own.store.read(stream);
    const logId = await own.store.logId();
    const reopened = await own.reopen();
    t.deepEqual(await reopened.read(stream), before);
    t.is(await reopened.logId(), logId);
    t.deepEqual(await reopened.append(stream, 'no-stream', events), appended);
    t.is((await reopened.append(stream, 2n, makeEvents(1)))?.revision, 3n);
  });

  test('Closing the store settles the pending appends, and each acknowledged one is written', async (t) => {
    const own = await deps.givenOwn(t);
    const streams = Array.from({ length: 20 }, () => uniqueStream());
    const asked = streams.map((stream) => own.store.append(stream, 'no-stream', makeEvents(2)));
    const [results, reopened] = await Promise.all([Promise.allSettled(asked), own.reopen()]);
    for (const [index, stream] of streams.entries()) {
      const length = (await reopened.read(stream)).length;
      if (results[index]?.status === 'fulfilled') t.is(length, 2);
      else t.true(length === 0 || length === 2);
    }
  });

  test('The store accepts an event of exactly the limit in UTF-8 bytes, and refuses one that is a byte larger', async (t) => {
    const stream = uniqueStream();
    const largest = eventOfBytes(maxEventBytes);
    await store().append(stream, 'no-stream', [largest]);
    t.deepEqual((await store().read(stream))[0]?.data, largest.data);
    const tooLarge = eventOfBytes(maxEventBytes + 1);
    await t.throwsAsync(store().append(stream, 0n, [tooLarge]), { instanceOf: EventTooLarge });
    t.is((await store().read(stream)).length, 1);
  });

  test('An append that is too large in total, or has one event that is too large, writes nothing', async (t) => {
    const stream = uniqueStream();
    const half = maxAppendBytes / 2;
    const tooMuch = [eventOfBytes(half), eventOfBytes(half - 300), eventOfBytes(301)];
    await t.throwsAsync(store().append(stream, 'no-stream', tooMuch), { instanceOf: EventTooLarge });
    const oneTooLarge = [makeEvent(), eventOfBytes(maxEventBytes + 1), makeEvent()];
    await t.throwsAsync(store().append(stream, 'no-stream', oneTooLarge), { instanceOf: EventTooLarge });
    t.deepEqual(await store().read(stream), []);
    await store().append(stream, 'no-stream', [eventOfBytes(half), eventOfBytes(half)]);
    t.is((await store().read(stream)).length, 2);
  });

  for (const [what, data] of awkwardJson()) {
    test(`Data reads back unchanged: ${what}`, async (t) => {
      const stream = uniqueStream();
      await store().append(stream, 'no-stream', [makeEvent({ data })]);
      const [stored] = await store().read(stream);
      t.deepEqual(stored?.data, data);
      t.is(JSON.stringify(stored?.data), JSON.stringify(data));
    });
  }
}

function idsOf(events: readonly { readonly id: string }[]): string[] {
  return events.map((event) => event.id);
}

function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, index) => from + index);
}

/** Makes an event whose data and metadata take exactly this many bytes and contain characters of more than one byte. */
function eventOfBytes(bytes: number): NewEvent {
  const size = (event: NewEvent): number =>
    Buffer.byteLength(JSON.stringify(event.data)) + Buffer.byteLength(JSON.stringify(event.metadata));
  const rest = bytes - size(makeEvent({ data: { text: '' } }));
  return makeEvent({ data: { text: 'é'.repeat(Math.floor(rest / 2)) + 'x'.repeat(rest % 2) } });
}

function awkwardJson(): [string, JsonObject][] {
  let deep: JsonObject = { bottom: true };
  for (let depth = 0; depth < 200; depth += 1) deep = { deep };
  return [
    ['an empty object', {}],
    [
      'null, booleans, empty strings and arrays',
      { a: null, b: true, c: false, d: '', e: [], f: [[]], g: [null] },
    ],
    [
      'numbers at the edges',
      { n: [0, -1, 0.1, 1e-7, 5e-324, 1.7976931348623157e308, 2 ** 53, -(2 ** 53), 1e21] },
    ],
    [
      'text of every plane, with zero and control characters',
      { text: 'zero \u0000 \u001f " \\ é 漢 😀 \u2028 \u2029 \ufeff' },
    ],
    ['a lone surrogate', { text: '\ud800' }],
    [
      'keys that JavaScript treats specially',
      JSON.parse('{"__proto__":{"a":1},"constructor":1,"a.b":2,"$c":3,"":4}') as JsonObject,
    ],
    ['keys that are not sorted', { b: 1, a: 2, z: { y: 1, x: 2 } }],
    ['200 levels', deep],
    ['many keys', Object.fromEntries(range(0, 2_000).map((index) => [`key ${index}`, index]))],
  ];
}
