import test from 'ava';
import {
  OutcomeUnknown,
  StoreDamaged,
  StoreUnavailable,
  StreamDamaged,
  WrongExpectedRevision,
} from '../../../src/event-sourcing/ports/errors.js';
import { makeEvents, readLog, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { eventually } from '../../support/eventually.js';
import { realClock } from '../../support/fakes/clock.js';
import { givenServer, type EventStoreDbServer } from '../../support/servers/eventstoredb-server/server.js';

const operations: readonly [what: string, strike: (server: EventStoreDbServer, name: string) => void][] = [
  ['$maxCount', ({ log }, name) => log.setMetadata(name, { $maxCount: 1 })],
  ['$maxAge', ({ log }, name) => log.setMetadata(name, { $maxAge: 0 })],
  ['$tb', ({ log }, name) => log.setMetadata(name, { $tb: 2 })],
  ['a soft delete', ({ log }, name) => log.softDelete(name)],
  ['a tombstone', ({ log }, name) => log.tombstone(name)],
];

for (const [what, strike] of operations) {
  test(`A read of a stream under ${what} names the damage instead of returning a shorter history`, async (t) => {
    const { server, store } = await givenServer(t);
    const [stream, whole] = [uniqueStream(), uniqueStream()];
    await store.append(stream, 'no-stream', makeEvents(4));
    await store.append(whole, 'no-stream', makeEvents(2));
    // Records of $maxAge 0 are gone one millisecond later.
    const struckMs = Date.now();
    strike(server, `test.${stream}`);
    while (Date.now() <= struckMs + 1);
    for (const from of what === '$maxAge' || what === '$tb' || what === '$maxCount'
      ? [0n, 1n]
      : [0n, 1n, 4n]) {
      if (what === '$maxAge' && from > 0n) continue;
      const error = await t.throwsAsync(store.read(stream, { from }), { instanceOf: StreamDamaged });
      t.is(error.stream, stream);
      t.true(error.message.includes(`test.${stream}`));
    }
    t.is((await store.read(whole)).length, 2);
    t.deepEqual(await store.read(uniqueStream()), []);
  });
}

for (const [what, strike] of operations) {
  test(`The first append to a stream under ${what} after a lost connection is refused, and is not sent`, async (t) => {
    const { server, store } = await givenServer(t);
    const [stream, whole] = [uniqueStream(), uniqueStream()];
    await store.append(stream, 'no-stream', makeEvents(4));
    await store.append(whole, 'no-stream', makeEvents(4));
    strike(server, `test.${stream}`);
    server.network.cut();
    const appended = (): number =>
      server.log.records.filter((record) => record.stream === `test.${stream}`).length;
    const before = appended();
    await t.throwsAsync(
      again(() => store.append(stream, 3n, makeEvents(1))),
      { instanceOf: StreamDamaged },
    );
    t.is(appended(), before);
    t.is((await again(() => store.append(whole, 3n, makeEvents(1))))?.revision, 4n);
  });
}

/** Repeats a call while the connection is lost. */
async function again<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await call();
    } catch (error) {
      const isLost = error instanceof StoreUnavailable || error instanceof OutcomeUnknown;
      if (!isLost || attempt === 20) throw error;
      await realClock.sleep(100);
    }
  }
}

test('A reader of the log reports metadata that remove events, and deletions, with the name of the stream', async (t) => {
  const damaged: Error[] = [];
  const { server, store } = await givenServer(t, {}, { onStreamDamaged: (error) => damaged.push(error) });
  for (const metadata of [{ $maxCount: 1 }, { $maxAge: 1 }, { $tb: 1 }]) {
    server.log.setMetadata('test.thing-1', metadata);
  }
  server.log.softDelete('test.thing-2');
  server.log.setMetadata('test.thing-3', {});
  server.log.setMetadata('foreign-1', { $maxCount: 1 });
  server.log.tombstone('foreign-1');
  server.log.tombstone('test.thing-4');
  const pages = await readLog(store, null);
  t.deepEqual(
    damaged.map((error) => error instanceof StreamDamaged && error.stream),
    ['thing-1', 'thing-1', 'thing-1', 'thing-2', 'thing-4'],
  );
  t.regex(damaged.at(-1)?.message ?? '', /^stream test\.thing-4 was deleted/);
  t.deepEqual([pages.flatMap(({ events }) => events), pages.at(-1)?.cursor], [[], await store.head()]);
});

test('A live subscription reports a tombstone, and goes on with the events after it', async (t) => {
  const damaged: Error[] = [];
  const { server, store } = await givenServer(t, {}, { onStreamDamaged: (error) => damaged.push(error) });
  const [deleted, whole] = [uniqueStream(), uniqueStream()];
  await store.append(deleted, 'no-stream', makeEvents(1));
  // Given a follower that takes the events of a subscription
  const reading = new AbortController();
  const seen: string[] = [];
  const following = (async () => {
    for await (const { events } of store.subscribe({ after: null, signal: reading.signal }))
      seen.push(...events.map(({ stream }) => stream));
  })();
  await eventually('the follower subscribes', () => server.subscriptions.size > 0);
  // When an operator deletes a stream
  server.log.tombstone(`test.${deleted}`);
  await store.append(whole, 'no-stream', makeEvents(1));
  await eventually('both events arrive', () => seen.length >= 2);
  reading.abort();
  await following;
  // Then the damage is named, and the record is no event
  t.deepEqual(seen, [deleted, whole]);
  t.true(
    damaged.length > 0 &&
      damaged.every((error) => error instanceof StreamDamaged && error.stream === deleted),
  );
});

test('A log from before a tombstone has the stream again, and a copy of the log has the tombstone', async (t) => {
  const { server, store } = await givenServer(t);
  const stream = uniqueStream();
  await store.append(stream, 'no-stream', makeEvents(2));
  const before = server.log.records.length;
  server.log.tombstone(`test.${stream}`);
  const copy = await givenServer(t);
  copy.server.log.become(server.log);
  await t.throwsAsync(copy.store.read(stream), { instanceOf: StreamDamaged });
  server.log.restore(before);
  t.is((await store.read(stream)).length, 2);
});

test('An append to a soft-deleted stream reports the events that it hides', async (t) => {
  const { server, store } = await givenServer(t);
  const stream = uniqueStream('email');
  await store.append(stream, 'no-stream', makeEvents(2));
  server.log.softDelete(`test.${stream}`);
  // The server accepts the event that begins a stream, at revision 2.
  const error = await t.throwsAsync(store.append(stream, 'no-stream', makeEvents(1)), {
    instanceOf: StreamDamaged,
  });
  t.is(error.stream, stream);
  t.is(server.log.stream(`test.${stream}`)?.length, 3);
  // The stream is back without its first events.
  await t.throwsAsync(store.read(stream), { instanceOf: StreamDamaged });
});

test('An append to a stream with a tombstone is damage of that stream, and others go on', async (t) => {
  const { server, store } = await givenServer(t);
  const stream = uniqueStream();
  await store.append(stream, 'no-stream', makeEvents(2));
  server.log.tombstone(`test.${stream}`);
  const error = await t.throwsAsync(store.append(stream, 1n, makeEvents(1)), { instanceOf: StoreDamaged });
  t.true(error instanceof StreamDamaged);
  t.is((await store.append(uniqueStream(), 'no-stream', makeEvents(1)))?.revision, 0n);
});

test('A stream that was truncated and scavenged lacks its first events too', async (t) => {
  const { server, store } = await givenServer(t);
  const stream = uniqueStream();
  await store.append(stream, 'no-stream', makeEvents(3));
  server.log.setMetadata(`test.${stream}`, { $tb: 3 });
  // An existing stream without any visible event is no absent stream.
  await t.throwsAsync(store.read(stream), { instanceOf: StreamDamaged, message: /revision 0/ });
  t.deepEqual(await store.read(stream, { from: 3n }), []);
});

test('An append before events that metadata hide is damage, and before events that no read shows yet a conflict', async (t) => {
  const { server, store } = await givenServer(t);
  for (const metadata of [{ $tb: 3 }, { $maxAge: -10 }]) {
    const stream = uniqueStream();
    await store.append(stream, 'no-stream', makeEvents(3));
    server.log.setMetadata(`test.${stream}`, metadata);
    // Given a process that knows the stream up to revision 1: its read finds nothing after it
    t.deepEqual(await store.read(stream, { from: 2n }), []);
    const error = await t.throwsAsync(store.append(stream, 1n, makeEvents(1)), { instanceOf: StreamDamaged });
    t.is(error.stream, stream);
    t.regex(error.message, /lacks the event at revision 2/);
  }
  // A leader compares with events for which it still waits for the other nodes, so a read finds none either
  const stream = uniqueStream();
  await store.append(stream, 'no-stream', makeEvents(2));
  server.log.setMetadata(`test.${stream}`, {});
  await t.throwsAsync(store.append(stream, 5n, makeEvents(1)), { instanceOf: WrongExpectedRevision });
});
