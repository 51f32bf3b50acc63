import test from 'ava';
import { z } from 'zod';
import {
  StoreDamaged,
  UndecodableEvent,
  WrongExpectedRevision,
} from '../../../src/event-sourcing/ports/errors.js';
import { makeEventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import { makeEvent, makeEvents, readLog, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { eventually } from '../../support/eventually.js';
import { givenServer, makeProposed } from '../../support/servers/eventstoredb-server/server.js';
import { settableClock } from '../../support/fakes/settable-clock.js';

const metadata = JSON.stringify(makeEvent().metadata);

const damaged = {
  'data that is cut off': { data: '{"what":"happ', metadata },
  'data that is a string': { data: '"happened"', metadata },
  'data that is an array': { data: '[]', metadata },
  'data that is null': { data: 'null', metadata },
  'data without a byte': { data: '', metadata },
  'data that is not JSON by its content type': {
    contentType: 'application/octet-stream',
    data: '{}',
    metadata,
  },
  'no metadata': { data: '{}' },
  'metadata of another program': { data: '{}', metadata: '{"$correlationId":"1"}' },
  'metadata that is cut off': { data: '{}', metadata: metadata.slice(0, 30) },
} as const;

// The most permissive codec possible: a type without fields, and a retired type whose upcaster accepts any data.
const codec = makeEventCodec(
  { 'ThingHappened@1': z.strictObject({}) },
  { 'ThingHappened@0': () => ({ type: 'ThingHappened@1', data: {} }) },
);

for (const [what, record] of Object.entries(damaged)) {
  for (const type of ['ThingHappened@1', 'ThingHappened@0']) {
    test.serial(`${type} with ${what} is read and never skipped, and no codec decodes it`, async (t) => {
      const { server, store } = await givenServer(t);
      const stream = uniqueStream();
      await store.append(stream, 'no-stream', makeEvents(1));
      server.log.append(`test.${stream}`, 0n, [makeProposed({ type, ...record })]);
      await store.append(stream, 1n, makeEvents(1));
      const fromStream = await store.read(stream);
      const fromLog = (await readLog(store, null)).flatMap((page) => page.events);
      for (const events of [fromStream, fromLog]) {
        t.deepEqual(
          events.map((event) => event.revision),
          [0n, 1n, 2n],
        );
        const [, event] = events;
        if (event === undefined) return t.fail();
        const error = t.throws(() => codec.decode(event), { instanceOf: UndecodableEvent });
        t.true(error.message.includes(type) && error.message.includes(stream));
      }
    });
  }
}

test.serial(
  'Reads leave out links, deletion marks, metadata streams and streams of other programs',
  async (t) => {
    const { server, store } = await givenServer(t);
    const stream = uniqueStream();
    await store.append(stream, 'no-stream', makeEvents(1));
    server.log.append('$ce-test.thing', 'no-stream', [
      makeProposed({ type: '$>', data: `0@test.${stream}` }),
    ]);
    server.log.append('test.copies-1', 'no-stream', [makeProposed({ type: '$>', data: `0@test.${stream}` })]);
    server.log.append('test.gone-1', 'no-stream', [makeProposed({ type: '$streamDeleted' })]);
    server.log.append(`$$test.${stream}`, 'no-stream', [makeProposed({ type: '$metadata' })]);
    server.log.append('tested.other-1', 'no-stream', [makeProposed({})]);
    const pages = await readLog(store, null, 2);
    t.is(pages.flatMap((page) => page.events).length, 1);
    t.is(pages.at(-1)?.cursor, await store.head());
  },
);

test.serial('A follower detects that its log was replaced by an older one', async (t) => {
  for (const grown of [false, true]) {
    const { server, store } = await givenServer(t, {}, { limits: { pollMs: 10, shortLogMs: 50 } });
    const stream = uniqueStream();
    await store.append(stream, 'no-stream', makeEvents(3));
    const pages = store.subscribe({ after: null, signal: new AbortController().signal });
    const followed = pages[Symbol.asyncIterator]();
    await followed.next();
    server.log.restore(2);
    const other = makeProposed({ data: '{"what":"another"}' });
    // A log is replaced while its server is stopped, so no subscription survives it.
    server.network.cut();
    if (grown) for (let n = 0; n < 4; n += 1) server.log.append(`test.${stream}`, BigInt(n), [other]);
    const ended = (async () => {
      while ((await followed.next()).done !== true);
    })();
    await t.throwsAsync(ended, { instanceOf: StoreDamaged, message: /older one.*delete the read models/ });
  }
});

test.serial('A log without a record at the position of a reader was replaced', async (t) => {
  for (const insideRecord of ['21.10', '24.10', '26.0'] as const) {
    const fatal: Error[] = [];
    const { server, store } = await givenServer(
      t,
      { insideRecord },
      { onFatal: (error) => fatal.push(error) },
    );
    const appended = await store.append(uniqueStream(), 'no-stream', makeEvents(3));
    server.log.restore(1);
    for (const name of ['one', 'two'])
      server.log.append(name, 'no-stream', [makeProposed({ data: JSON.stringify('x'.repeat(2_000)) })]);
    const error = await t.throwsAsync(store.readAll({ after: appended?.position ?? null, limit: 10 }));
    const damage = { message: /no record begins.*older one.*delete the read models/ };
    if (insideRecord !== '21.10') t.like(error, { name: 'StoreDamaged' });
    else {
      // Then the text of 21.10, which means any failure, is settled by the stream of the last known event.
      t.like(error, { name: 'StoreUnavailable' });
      await eventually('the damage is reported', () => fatal.length > 0);
    }
    t.regex((insideRecord !== '21.10' ? error : fatal[0])?.message ?? '', damage.message);
  }
});

test.serial(
  'A read detects that the last record it saw is gone, unless the record is of another program',
  async (t) => {
    for (const ours of [true, false]) {
      const { server, store } = await givenServer(t);
      // Given a log that was read up to its last record
      await store.append(uniqueStream(), 'no-stream', makeEvents(1));
      const stream = `${ours ? 'test' : 'foreign'}.${uniqueStream()}`;
      server.log.append(stream, 'no-stream', [makeProposed({})]);
      const { cursor } = await store.readAll({ after: null, limit: 10 });
      // When that record is gone, and a later record follows its place
      server.log.append('foreign.later', 'no-stream', [makeProposed({})]);
      server.log.scavenge(stream);
      // Then only a record of another program may be gone
      const reading = store.readAll({ after: cursor, limit: 10 });
      if (ours)
        await t.throwsAsync(reading, { instanceOf: StoreDamaged, message: /another record is there/ });
      else t.true((await reading).atHead);
    }
  },
);

test.serial(
  'The store waits for a log that ends too early for a moment, as after a change of leader',
  async (t) => {
    const clock = settableClock();
    const { server, store } = await givenServer(t, {}, { clock, limits: { shortLogMs: 10_000 } });
    const appended = await store.append(uniqueStream(), 'no-stream', makeEvents(3));
    const after = appended?.position ?? null;
    const last = server.log.records.at(-1);
    if (last === undefined) return t.fail();
    const tooShort = { name: 'StoreUnavailable', message: /ends before/ };
    // The time counts from the beginning of each short log.
    for (let time = 0; time < 3; time += 1) {
      server.log.restore(server.log.records.length - 1);
      await t.throwsAsync(store.readAll({ after, limit: 10 }), tooShort);
      clock.advance(9_999);
      await t.throwsAsync(store.readAll({ after, limit: 10 }), tooShort);
      server.log.append(last.stream, last.revision - 1n, [last]);
      t.true((await store.readAll({ after, limit: 10 })).atHead);
    }
    server.log.restore(server.log.records.length - 1);
    await t.throwsAsync(store.readAll({ after, limit: 10 }), tooShort);
    clock.advance(10_000);
    await t.throwsAsync(store.readAll({ after, limit: 10 }), { instanceOf: StoreDamaged });
  },
);

test.serial('A stream that was deleted on the server is damage, not an empty stream', async (t) => {
  const { server, store } = await givenServer(t);
  const stream = uniqueStream();
  await store.append(stream, 'no-stream', makeEvents(2));
  server.log.tombstone(`test.${stream}`);
  const expectation = { instanceOf: StoreDamaged, message: /was deleted on the EventStoreDB server/ };
  await t.throwsAsync(store.read(stream), expectation);
  await t.throwsAsync(store.append(stream, 1n, makeEvents(1)), expectation);
});

for (const streamReadPositions of [true, false]) {
  const version = streamReadPositions ? '22.6 or newer' : 'older than 22.6';
  test.serial(
    `The store recognises a repeated append by its ids when the server forgot them (${version})`,
    async (t) => {
      const { server, store } = await givenServer(t, { streamReadPositions });
      const stream = uniqueStream();
      const events = makeEvents(3);
      await store.append(stream, 'no-stream', makeEvents(1));
      const appended = await store.append(stream, 0n, events);
      for (let count = 0; count < 700; count += 1) {
        server.log.append('foreign-1', 'any', [makeProposed({})]);
      }
      server.log.forgetIds();
      t.deepEqual(await store.append(stream, 0n, events), appended);
      await t.throwsAsync(store.append(stream, 0n, [...events, makeEvent()]), {
        instanceOf: WrongExpectedRevision,
      });
      await t.throwsAsync(store.append(stream, 0n, makeEvents(3)), { instanceOf: WrongExpectedRevision });
      t.is((await store.read(stream)).length, 4);
    },
  );
}

test.serial('The store refuses a checkpoint of another kind of store', async (t) => {
  const { store } = await givenServer(t);
  await t.throwsAsync(store.readAll({ after: '17', limit: 1 }), { instanceOf: StoreDamaged });
});
