import type { TestFn } from 'ava';
import { eventually } from '../support/eventually.js';
import { pluck } from '../support/given/pluck.js';
import type { LogEvent, Position } from '../../src/event-sourcing/ports/domain-event.js';
import { StoreDamaged } from '../../src/event-sourcing/ports/errors.js';
import { eventBytes } from '../../src/event-sourcing/feeding/read-log.js';
import { logPageBytesMax, type EventStore } from '../../src/event-sourcing/ports/event-store.js';
import {
  type StoresUnderTest,
  eventsOf,
  follow,
  makeEvent,
  makeEvents,
  readLog,
  uniqueStream,
} from './event-store-fixtures.js';

/** Tests the whole log: order, positions, pages, foreign streams and subscriptions. */
export function eventStoreLogContract(test: TestFn, deps: StoresUnderTest): void {
  const store = () => deps.harness().store;

  test('The log has one id, which is not empty', async (t) => {
    const id = await store().logId();
    t.not(id, '');
    t.is(await store().logId(), id);
  });

  test('The log holds the events of all streams in the order of their appends', async (t) => {
    const [one, two] = [uniqueStream(), uniqueStream()];
    const before = await store().head();
    await store().append(one, 'no-stream', makeEvents(2));
    await store().append(two, 'no-stream', makeEvents(2));
    await store().append(one, 1n, makeEvents(1));
    const events = eventsOf(await readLog(store(), before), one, two);
    t.deepEqual(
      events.map((event) => [event.stream, event.revision]),
      [
        [one, 0n],
        [one, 1n],
        [two, 0n],
        [two, 1n],
        [one, 2n],
      ],
    );
    const inStream = await store().read(one);
    const inLog = events.filter((event) => event.stream === one);
    t.deepEqual(
      inLog.map(({ position: _position, ...event }) => event),
      [...inStream],
    );
  });

  test('Positions rise strictly in the order of bytes, and are the same in appends, in the log and in its head', async (t) => {
    const stream = uniqueStream();
    const before = await store().head();
    const appended: Position[] = [];
    for (let revision = -1n; revision < 29n; revision += 2n) {
      const result = await store().append(stream, revision < 0n ? 'no-stream' : revision, makeEvents(2));
      appended.push(result?.position ?? 'none');
      t.true(bytesCompare(await store().head(), result?.position) >= 0);
    }
    const positions = eventsOf(await readLog(store(), before), stream).map((event) => event.position);
    t.is(positions.length, 30);
    t.deepEqual(
      positions.filter((_, index) => index % 2 === 1),
      appended,
    );
    const chain = [before, ...positions];
    t.true(chain.every((position, index) => index === 0 || bytesCompare(chain[index - 1], position) < 0));
  });

  test('The head of a quiet log is the position of its last event', async (t) => {
    const stream = uniqueStream();
    // Other writers may append to the same log, so the test repeats until no append came in between.
    let isHead = false;
    for (let attempt = 0; attempt < 50 && !isHead; attempt += 1) {
      const expected = attempt === 0 ? 'no-stream' : BigInt(attempt - 1);
      const appended = await store().append(stream, expected, [makeEvent()]);
      isHead = (await store().head()) === appended?.position;
    }
    t.true(isHead, 'the head never equalled the position of the last append');
  });

  test('Pages of any size contain the same events, and each page begins after the cursor of the previous one', async (t) => {
    // A separate log, where the store can have one: otherwise a read with a limit of 1 needs thousands of pages for the
    // events of the other tests.
    const { store } = await deps.givenOwn(t);
    const stream = uniqueStream();
    const before = await store.head();
    await store.append(stream, 'no-stream', makeEvents(7));
    const whole = eventsOf(await readLog(store, before), stream);
    t.is(whole.length, 7);
    for (const limit of [1, 2, 3, 7, 8]) {
      const pages = await readLog(store, before, limit);
      t.true(pages.every((page) => page.events.length <= limit));
      t.deepEqual(eventsOf(pages, stream), whole);
      const cursors = [before, ...pages.map((page) => page.cursor)];
      t.true(cursors.every((cursor, index) => index === 0 || bytesCompare(cursors[index - 1], cursor) <= 0));
    }
    const middle = whole[3]?.position ?? null;
    t.deepEqual(eventsOf(await readLog(store, middle), stream), whole.slice(4));
  });

  test('Pages of large events say their size and lack no event, and a read of their stream returns all of them', async (t) => {
    // A separate log, for the same reason as above.
    const { store, ...own } = await deps.givenOwn(t);
    const stream = uniqueStream();
    const before = await store.head();
    const pageBytes = own.pageBytes ?? logPageBytesMax;
    const text = 'x'.repeat(pageBytes / 10);
    for (let revision = -1n; revision < 11n; revision += 2n) {
      const events = [makeEvent({ data: { text } }), makeEvent({ data: { text } })];
      await store.append(stream, revision < 0n ? 'no-stream' : revision, events);
    }
    const pages = await readLog(store, before);
    const found = eventsOf(pages, stream);
    t.deepEqual(
      pluck(found, 'revision'),
      Array.from({ length: 12 }, (_, index) => BigInt(index)),
    );
    for (const page of pages) {
      const bytes = bytesOf(page.events);
      t.true(bytesOf(page.events.slice(0, -1)) < pageBytes, 'the last event ends the page');
      // What other columns take of a page is little.
      t.true(Math.abs((page.bytes ?? 0) - bytes) <= 400 * page.events.length);
    }
    t.is((await store.read(stream)).length, 12);
    t.is((await store.read(stream, { limit: 11 })).length, 11);
  });

  test('A read at the end of the log returns the head as its cursor and reports the end', async (t) => {
    await store().append(uniqueStream(), 'no-stream', makeEvents(2));
    let cursor = await store().head();
    // Other writers append to the same log, so its end may be some pages away, and move.
    await eventually('a read that finds the end of the log', async () => {
      const page = await store().readAll({ after: cursor, limit: 100 });
      const isAtEnd = page.events.length === 0 && page.cursor === cursor;
      if (isAtEnd) t.true(page.atHead);
      cursor = page.cursor;
      return isAtEnd;
    });
  });

  test('Reads leave out streams without the prefix, but the cursor and the head pass them', async (t) => {
    // A separate log, for the same reason as above.
    const { store, ...own } = await deps.givenOwn(t);
    const stream = uniqueStream();
    const before = await store.head();
    await store.append(stream, 'no-stream', makeEvents(1));
    for (let count = 0; count < 5; count += 1) await own.appendForeign();
    const after = (await store.append(stream, 0n, makeEvents(1)))?.position;
    for (let count = 0; count < 5; count += 1) await own.appendForeign();
    const head = await store.head();
    t.true(bytesCompare(after, head) < 0);
    for (const limit of [1, 2, 100]) {
      const pages = await readLog(store, before, limit);
      t.is(eventsOf(pages, stream).length, 2);
      t.false(pages.flatMap((page) => page.events).some((event) => event.stream.includes('foreign-')));
      t.true(bytesCompare(pages.at(-1)?.cursor, head) >= 0);
    }
  });

  test('Positions and order are the same after the store was closed and opened again', async (t) => {
    const own = await deps.givenOwn(t);
    const [one, two] = [uniqueStream(), uniqueStream()];
    const before = await own.store.head();
    await own.store.append(one, 'no-stream', makeEvents(3));
    const last = await own.store.append(two, 'no-stream', makeEvents(2));
    const events = eventsOf(await readLog(own.store, before), one, two);
    const reopened = await own.reopen();
    t.deepEqual(eventsOf(await readLog(reopened, before), one, two), events);
    t.true(bytesCompare(await reopened.head(), last?.position) >= 0);
    const next = await reopened.append(one, 2n, makeEvents(1));
    t.true(bytesCompare(last?.position, next?.position) < 0);
  });

  test('Reads and subscriptions refuse a log that ends before a position that it had reached', async (t) => {
    // A separate store, because a store that has found damage may refuse all further calls.
    const own = await deps.givenOwn(t);
    await own.store.append(uniqueStream(), 'no-stream', makeEvents(2));
    // Changes the last zero before the first other digit, so the position is larger than the head.
    const beyond = ((await own.store.head()) ?? '').replace(/0(?=[1-9])/, '1');
    const expectation = { instanceOf: StoreDamaged, message: /older/ };
    await t.throwsAsync(own.store.readAll({ after: beyond, limit: 10 }), expectation);
    const pages = own.store.subscribe({ after: beyond, signal: new AbortController().signal });
    await t.throwsAsync(pages[Symbol.asyncIterator]().next(), expectation);
  });

  test('A subscription goes from catching up to live without a gap while other writers append', async (t) => {
    const streams = Array.from({ length: 5 }, () => uniqueStream());
    const before = await store().head();
    const rounds = 30;
    for (const stream of streams) await appendRounds(store(), stream, { from: 0, to: 5 });
    const following = follow(store(), before, { streams, count: rounds * streams.length });
    await Promise.all(streams.map((stream) => appendRounds(store(), stream, { from: 5, to: rounds })));
    const followed = await following;
    t.deepEqual(followed, eventsOf(await readLog(store(), before), ...streams));
    for (const stream of streams) {
      const revisions = followed.filter((event) => event.stream === stream).map((event) => event.revision);
      t.deepEqual(
        revisions,
        Array.from({ length: rounds }, (_, index) => BigInt(index)),
      );
    }
  });

  test('Subscriptions from different positions each receive all events after their position', async (t) => {
    const stream = uniqueStream();
    const before = await store().head();
    const middle = (await store().append(stream, 'no-stream', makeEvents(4)))?.position ?? null;
    const followings = [
      follow(store(), before, { streams: [stream], count: 8 }),
      follow(store(), middle, { streams: [stream], count: 4 }),
      follow(store(), before, { streams: [stream], count: 8 }),
    ];
    await store().append(stream, 3n, makeEvents(4));
    const [all, later, again] = await Promise.all(followings);
    t.is(all?.length, 8);
    t.deepEqual(all?.slice(4), later);
    t.deepEqual(all, again);
  });

  test('A slow subscriber misses no event', async (t) => {
    const stream = uniqueStream();
    const before = await store().head();
    const controller = new AbortController();
    const revisions: bigint[] = [];
    await store().append(stream, 'no-stream', makeEvents(1));
    for await (const page of store().subscribe({ after: before, signal: controller.signal })) {
      for (const event of eventsOf([page], stream)) {
        revisions.push(event.revision);
        // The stream grows while the subscriber handles the page.
        if (event.revision < 20n) await store().append(stream, event.revision, makeEvents(1));
        else controller.abort();
      }
    }
    t.deepEqual(
      revisions,
      Array.from({ length: 21 }, (_, index) => BigInt(index)),
    );
  });

  test('An abort ends a subscription that waits at the end of the log', async (t) => {
    const controller = new AbortController();
    const pages = store().subscribe({ after: await store().head(), signal: controller.signal });
    const iterator = pages[Symbol.asyncIterator]();
    const ended = (async () => {
      while ((await iterator.next()).done !== true);
    })();
    controller.abort();
    await t.notThrowsAsync(ended);
    t.true((await iterator.next()).done);
  });

  test('A subscription that is aborted before it begins yields nothing', async (t) => {
    await store().append(uniqueStream(), 'no-stream', makeEvents(1));
    const pages = store().subscribe({ after: null, signal: AbortSignal.abort() });
    t.true((await pages[Symbol.asyncIterator]().next()).done);
  });
}

async function appendRounds(
  store: EventStore,
  stream: string,
  { from, to }: { readonly from: number; readonly to: number },
): Promise<void> {
  for (let round = from; round < to; round += 1) {
    await store.append(stream, round === 0 ? 'no-stream' : BigInt(round - 1), makeEvents(1));
  }
}

function bytesOf(events: readonly LogEvent[]): number {
  return events.reduce((sum, event) => sum + eventBytes(event), 0);
}

/** Compares positions as bytes. The absent position of an empty log comes first. */
function bytesCompare(one: Position | null | undefined, other: Position | null | undefined): number {
  return Buffer.compare(Buffer.from(one ?? ''), Buffer.from(other ?? ''));
}
