import test, { type ExecutionContext } from 'ava';
import type { Clock } from '../../../src/kit/time/clock.js';
import { OutcomeUnknown, StoreDamaged, StoreUnavailable } from '../../../src/event-sourcing/ports/errors.js';
import { makeEvent, makeEvents, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { eventually } from '../../support/eventually.js';
import { untilAvailable } from '../../support/clients/store-calls.js';
import { realClock } from '../../support/fakes/clock.js';
import {
  givenServer,
  openTestStore,
  makeProposed,
  startEventStoreDbServer,
  type EventStoreDbServer,
  type StartOptions,
} from '../../support/servers/eventstoredb-server/server.js';

/** The wait for a log that ends too early. The other exchanges must be noticed without it. */
const shortLogMs = 200;

/** More events than the writers have in flight, so that acknowledged ones are among them. */
const lost = 30;

/** Puts another log under a server, as a restart of the server on other files does. */
type Exchange = (server: EventStoreDbServer) => unknown;

const exchanges: readonly [what: string, exchange: Exchange, sentence: RegExp, start?: StartOptions][] = [
  ['an older copy', (server) => server.log.restore(server.log.records.length - lost), /older one/],
  ['an older copy that has grown past the last known event', growOlderCopy, /older one/],
  [
    'an older copy that has grown by larger events',
    (server) => {
      server.log.restore(server.log.records.length - lost);
      const large = makeProposed({ data: JSON.stringify('x'.repeat(5_000)) });
      server.log.append('foreign-large', 'any', [large]);
      server.log.append('foreign-large', 'any', [{ ...makeProposed({}) }]);
    },
    /older one/,
  ],
  ['an empty log', (server) => server.log.restore(0), /is empty/],
  ['the log of another service', becomeAnother, /it now holds the log [0-9a-f-]{36}/],
  ['an older copy, to which the lost appends were repeated,', repeatLost, /at another position/],
  [
    'an older copy, to which the lost appends were repeated, without positions in reads of a stream,',
    repeatLost,
    /at another position/,
    { streamReadPositions: false },
  ],
];

/** The lost events stand in their streams again, with the same ids, at other places of the log. */
function repeatLost(server: EventStoreDbServer): void {
  const tail = server.log.records.slice(-lost);
  server.log.restore(server.log.records.length - lost);
  server.log.append('foreign-before', 'any', [makeProposed({ data: JSON.stringify('x'.repeat(301)) })]);
  for (const record of tail) {
    const expected = record.revision === 0n ? 'no-stream' : record.revision - 1n;
    server.log.append(record.stream, expected, [record]);
  }
}

function growOlderCopy(server: EventStoreDbServer): void {
  const tail = server.log.records.slice(-lost);
  server.log.restore(server.log.records.length - lost);
  // The same sizes as before, so that a record begins at each known position.
  for (const record of [...tail, ...tail]) {
    server.log.append(record.stream, 'any', [
      { ...makeProposed({}), type: record.type, data: record.data, metadata: record.metadata },
    ]);
  }
}

async function becomeAnother(server: EventStoreDbServer): Promise<void> {
  const other = await startEventStoreDbServer();
  const store = openTestStore(other.url);
  await store.logId();
  for (let n = 0; n < 20; n += 1) await store.append(uniqueStream(), 'no-stream', makeEvents(20));
  server.log.become(other.log);
  await store.close();
  await other.close();
}

function given(
  t: ExecutionContext,
  options: { readonly shortLogMs?: number; readonly start?: StartOptions; readonly clock?: Clock } = {},
) {
  const fatal: Error[] = [];
  return givenServer(t, options.start ?? {}, {
    limits: { shortLogMs: options.shortLogMs ?? shortLogMs, pollMs: 20 },
    ...(options.clock === undefined ? {} : { clock: options.clock }),
    onFatal: (error) => fatal.push(error),
  }).then(({ server, store }) => ({ server, store, fatal }));
}

for (const [what, exchange, sentence, start = {}] of exchanges) {
  test.serial(
    `No append is acknowledged after ${what} has replaced the log under load, and the store ends`,
    async (t) => {
      const { server, store, fatal } = await given(t, { start });
      await store.logId();
      // Given writers that never pause
      const acknowledged: string[] = [];
      const stopping = new AbortController();
      const stopped = (): boolean => stopping.signal.aborted;
      const writers = Array.from({ length: 8 }, async () => {
        while (!stopped()) {
          try {
            const event = makeEvent();
            await store.append(uniqueStream(), 'no-stream', [event]);
            acknowledged.push(event.id);
          } catch (error) {
            if (!(error instanceof StoreUnavailable || error instanceof StoreDamaged)) throw error;
            await realClock.sleep(5);
          }
        }
      });
      await eventually('100 appends are acknowledged', () => acknowledged.length >= 100);
      // When the server stops, and starts again with another log
      await server.network.refuse();
      const before = new Set(server.log.records.map(({ id }) => id));
      await exchange(server);
      await server.network.accept();
      // Then the store reports it, and acknowledges nothing meanwhile and later
      await eventually('the store reports the other log', () => fatal.length > 0);
      await realClock.sleep(50);
      stopping.abort();
      await Promise.all(writers);
      t.deepEqual(
        acknowledged.filter((id) => !before.has(id)),
        [],
      );
      t.is(fatal.length, 1);
      t.true(fatal[0] instanceof StoreDamaged);
      t.regex(fatal[0]?.message ?? '', sentence);
      t.regex(fatal[0]?.message ?? '', /delete the read models/);
      await t.throwsAsync(store.append(uniqueStream(), 'no-stream', makeEvents(1)), {
        instanceOf: StoreDamaged,
      });
    },
  );

  test.serial(`A process that only follows the log notices that ${what} has replaced it`, async (t) => {
    const { server, store, fatal } = await given(t, { start });
    await store.logId();
    await appendSome(server);
    const controller = new AbortController();
    const damaged: unknown[] = [];
    let passed = 0;
    const follow = async (): Promise<void> => {
      for await (const page of store.subscribe({ after: null, signal: controller.signal })) {
        passed += page.events.length;
      }
    };
    const following = follow().catch((error: unknown) => {
      // A server that is away for long ends the subscription. The store itself then verifies the log.
      if (!(error instanceof StoreUnavailable)) damaged.push(error);
    });
    await eventually('50 events pass', () => passed >= 50);
    await eventually('the follower subscribes', () => server.subscriptions.size > 0);
    await server.network.refuse();
    await exchange(server);
    await server.network.accept();
    await eventually('the other log is noticed', () => fatal.length > 0 || damaged.length > 0);
    controller.abort();
    await following;
    t.true([...fatal, ...damaged].every((error) => error instanceof StoreDamaged));
  });
}

/** Appends events of this service by another process. */
async function appendSome(server: EventStoreDbServer): Promise<void> {
  const other = openTestStore(server.url);
  for (let n = 0; n < 5; n += 1) await other.append(uniqueStream(), 'no-stream', makeEvents(10));
  await other.close();
}

test.serial(
  'A reader that is behind reads an older copy that has grown, and no append is acknowledged after that',
  async (t) => {
    // Given a store whose check in the background waits, so that the reader is first
    const waits = { ...realClock, sleep: () => new Promise<void>(() => undefined) };
    const { server, store, fatal } = await given(t, { clock: waits });
    await store.logId();
    for (let n = 0; n < lost + 5; n += 1) await store.append(uniqueStream(), 'no-stream', makeEvents(1));
    const { cursor } = await store.readAll({ after: null, limit: 2 });
    const known = (await store.head()) ?? '';
    await server.network.refuse();
    growOlderCopy(server);
    await t.throwsAsync(store.readAll({ after: cursor, limit: 500 }), { instanceOf: StoreUnavailable });
    await server.network.accept();
    // When a reader reads past the last known position
    const page = await untilAvailable(() => store.readAll({ after: cursor, limit: 500 }));
    t.true((page.cursor ?? '') > known);
    t.deepEqual(fatal, []);
    // Then the next append finds out
    const length = server.log.records.length;
    await t.throwsAsync(store.append(uniqueStream(), 'no-stream', makeEvents(1)), {
      instanceOf: StoreDamaged,
    });
    t.is(server.log.records.length, length);
    t.is(fatal.length, 1);
  },
);

test.serial('A server that restarts with the same log goes on', async (t) => {
  const { server, store, fatal } = await given(t, { shortLogMs: 0 });
  await store.logId();
  for (let round = 0; round < 5; round += 1) {
    await store.append(uniqueStream(), 'no-stream', makeEvents(2));
    server.network.cut();
    await untilAvailable(() => store.append(uniqueStream(), 'no-stream', makeEvents(1)));
  }
  t.deepEqual(fatal, []);
  t.true(server.faults.calls.filter((call) => call.kind === 'probe').length >= 6);
});

test.serial(
  'An append is refused and not sent while the log ends too early, as after a change of leader',
  async (t) => {
    const { server, store, fatal } = await given(t, { shortLogMs: 600_000 });
    await store.logId();
    const stream = uniqueStream();
    await store.append(stream, 'no-stream', makeEvents(3));
    const [last] = server.log.records.slice(-1);
    if (last === undefined) return t.fail();
    // Given a leader that lacks the last event for a moment
    server.log.restore(server.log.records.length - 1);
    server.network.cut();
    const length = server.log.records.length;
    const refusal = await eventually('the refusal names the short log', async () => {
      const error = await t.throwsAsync(store.append(stream, 2n, makeEvents(1)), {
        instanceOf: StoreUnavailable,
      });
      return error.message.includes('ends before') && error;
    });
    t.false(refusal instanceof OutcomeUnknown);
    t.is(server.log.records.length, length);
    // When it has the event, then appends go on
    server.log.append(last.stream, last.revision - 1n, [last]);
    t.is((await store.append(stream, 2n, makeEvents(1)))?.revision, 3n);
    t.deepEqual(fatal, []);
  },
);
