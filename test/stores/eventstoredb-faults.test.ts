import test from 'ava';
import { appendDurably } from '../../src/event-sourcing/append-durably.js';
import { OutcomeUnknown, StoreUnavailable, WrongExpectedRevision } from '../../src/event-sourcing/errors.js';
import type { EventStore } from '../../src/event-sourcing/event-store.js';
import { makeEvents, uniqueStream } from '../contracts/event-store-fixtures.js';
import { makeSeededRandom, realClock } from '../support/clock.js';
import { callMs, givenServer, slackMs } from '../support/eventstoredb-server/given-server.js';
import type { Fault } from '../support/eventstoredb-server/faults.js';
import { makeProposed } from '../support/eventstoredb-server/proposed.js';
import type { EventStoreDbServer } from '../support/eventstoredb-server/server.js';

const deps = { clock: realClock, random: makeSeededRandom(7) };

const outages: readonly [what: string, strike: (server: EventStoreDbServer) => unknown][] = [
  [
    'freezes: it accepts and never answers',
    (server) => {
      server.network.freeze();
    },
  ],
  ['refuses connections', (server) => server.network.refuse()],
  [
    'takes every call and answers none',
    (server) => {
      server.faults.decideBy(() => ({ apply: 'never', answer: 'nothing' }));
    },
  ],
  [
    'is not ready',
    (server) => {
      server.faults.decideBy(() => ({ apply: 'never', answer: 'not-ready' }));
    },
  ],
  [
    'breaks the connection at every call',
    (server) => {
      server.faults.decideBy(() => ({ apply: 'never', answer: 'cut' }));
    },
  ],
];

const calls: readonly [what: string, call: (store: EventStore) => Promise<unknown>][] = [
  ['read', (store) => store.read(uniqueStream())],
  ['readAll', (store) => store.readAll({ after: null, limit: 10 })],
  ['head', (store) => store.head()],
  ['logId', (store) => store.logId()],
];

for (const [what, strike] of outages) {
  for (const connected of [true, false]) {
    test.serial(
      `a server that ${what}${connected ? '' : ' from the start'}: every call ends in its time`,
      async (t) => {
        const { server, store } = await givenServer(t, {}, { limits: { callMs } });
        if (connected) await store.read(uniqueStream());
        await strike(server);
        const startedMs = performance.now();
        const reads = calls.map(([name, call]) =>
          t.throwsAsync(call(store), { instanceOf: StoreUnavailable }, name),
        );
        const append = store.append(uniqueStream(), 'no-stream', makeEvents(2));
        await Promise.all([...reads, t.throwsAsync(append, { instanceOf: OutcomeUnknown })]);
        t.true(performance.now() - startedMs < callMs + slackMs);
      },
    );
  }
}

test.serial('the store works again as soon as the server answers again', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs } });
  const stream = uniqueStream();
  await store.append(stream, 'no-stream', makeEvents(1));
  await server.network.refuse();
  await t.throwsAsync(store.read(stream), { instanceOf: StoreUnavailable });
  await server.network.accept();
  t.is((await store.read(stream)).length, 1);
  server.network.freeze();
  await t.throwsAsync(store.read(stream), { instanceOf: StoreUnavailable });
  server.network.thaw();
  t.is((await store.append(stream, 0n, makeEvents(1)))?.revision, 1n);
});

for (const answer of ['nothing', 'cut', 'unavailable', 'timeout', 'unknown'] as const) {
  test.serial(`a read that breaks off after some events (${answer}) returns none`, async (t) => {
    const { server, store } = await givenServer(t, {}, { limits: { callMs } });
    const stream = uniqueStream();
    await store.append(stream, 'no-stream', makeEvents(5));
    server.faults.next('read', { answer, afterEvents: 3 }, { answer, afterEvents: 3 });
    await t.throwsAsync(store.read(stream), { instanceOf: StoreUnavailable });
    await t.throwsAsync(store.readAll({ after: null, limit: 10 }), { instanceOf: StoreUnavailable });
    t.is((await store.read(stream)).length, 5);
  });
}

const unsettled: readonly Fault[] = [
  ...(['nothing', 'cut', 'unavailable', 'timeout', 'not-ready', 'cancelled', 'unknown'] as const).flatMap(
    (answer): Fault[] => [
      { apply: 'now', answer },
      { apply: 'never', answer },
      { apply: { afterMs: 20 }, answer },
    ],
  ),
  { apply: 'never', answer: 'not-leader' },
  { apply: 'now', answer: 'normal', delayMs: callMs * 2 },
];

for (const fault of unsettled) {
  test.serial(
    `an append under ${JSON.stringify(fault)} is unknown, and repeating it leaves it written once`,
    async (t) => {
      const { server, store } = await givenServer(t, {}, { limits: { callMs } });
      const stream = uniqueStream();
      await store.append(stream, 'no-stream', makeEvents(1));
      const events = makeEvents(3);
      server.faults.next('append', fault);
      await t.throwsAsync(store.append(stream, 0n, events), { instanceOf: OutcomeUnknown });
      server.faults.next('append', fault);
      const revision = await appendDurably({ eventStore: store, ...deps }, { stream, expected: 0n }, events);
      t.is(revision, 3n);
      await realClock.sleep(40);
      const stored = await store.read(stream);
      t.deepEqual(
        stored.slice(1).map((event) => event.id),
        events.map((event) => event.id),
      );
    },
  );
}

for (const apply of ['now', 'never', { afterMs: 20 }] as const) {
  test.serial(
    `an append that no try settled (applied: ${JSON.stringify(apply)}) is there once or not at all`,
    async (t) => {
      const { server, store } = await givenServer(t, {}, { limits: { callMs } });
      const stream = uniqueStream();
      server.faults.decideBy((call) => (call.kind === 'append' ? { apply, answer: 'timeout' } : undefined));
      const append = appendDurably(
        { eventStore: store, ...deps },
        { stream, expected: 'no-stream' },
        makeEvents(2),
      );
      await t.throwsAsync(append, { instanceOf: OutcomeUnknown });
      await realClock.sleep(40);
      server.faults.decideBy(null);
      t.is((await store.read(stream)).length, apply === 'never' ? 0 : 2);
    },
  );
}

test.serial('an unknown append that somebody overtook is a lost race, and is not written', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs } });
  const stream = uniqueStream();
  server.faults.next('append', { apply: { afterMs: 60 }, answer: 'unavailable' });
  const append = appendDurably(
    { eventStore: store, ...deps },
    { stream, expected: 'no-stream' },
    makeEvents(2),
  );
  while (server.faults.calls.length === 0) await realClock.sleep(1);
  server.log.append(`test.${stream}`, 'no-stream', [makeProposed({})]);
  await t.throwsAsync(append, { instanceOf: WrongExpectedRevision });
  await realClock.sleep(80);
  t.is((await store.read(stream)).length, 1);
});

test.serial('a refusal for lack of rights is certain: nothing was written', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs } });
  server.faults.next('append', { apply: 'never', answer: 'access-denied' });
  const error = await t.throwsAsync(store.append(uniqueStream(), 'no-stream', makeEvents(1)));
  t.true(error instanceof StoreUnavailable);
  t.false(error instanceof OutcomeUnknown);
  t.regex(error.message, /rights/);
});

test.serial('every append is a call of its own, with a node that ignores credentials too', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs } });
  await Promise.all(
    Array.from({ length: 5 }, () => store.append(uniqueStream(), 'no-stream', makeEvents(2))),
  );
  t.deepEqual(
    server.faults.calls.map((call) => call.kind),
    Array.from({ length: 5 }, () => 'append'),
  );
});

test.serial('a caller can give up waiting', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs: 60_000 } });
  server.network.freeze();
  const controller = new AbortController();
  const options = { signal: controller.signal };
  const settled = Promise.all([
    t.throwsAsync(store.append(uniqueStream(), 'no-stream', makeEvents(1), options), {
      instanceOf: OutcomeUnknown,
    }),
    t.throwsAsync(store.read(uniqueStream(), options), { instanceOf: StoreUnavailable }),
    t.throwsAsync(store.readAll({ after: null, limit: 1, ...options }), { instanceOf: StoreUnavailable }),
  ]);
  controller.abort();
  await settled;
  const error = await t.throwsAsync(store.append(uniqueStream(), 'no-stream', makeEvents(1), options));
  t.false(error instanceof OutcomeUnknown, 'nothing was sent');
  server.network.thaw();
});

test.serial('more calls at once than are allowed are refused before anything is sent', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs, callsMax: 2 } });
  server.network.freeze();
  const waiting = [store.read(uniqueStream()), store.read(uniqueStream())].map((read) => t.throwsAsync(read));
  const error = await t.throwsAsync(store.append(uniqueStream(), 'no-stream', makeEvents(1)));
  t.true(error instanceof StoreUnavailable);
  t.false(error instanceof OutcomeUnknown);
  await Promise.all(waiting);
});

test.serial(
  'closing settles what is under way; later calls are refused, and nothing is reported late',
  async (t) => {
    const { server, store } = await givenServer(t, {}, { limits: { callMs } });
    const controller = new AbortController();
    const pages = store.subscribe({ after: null, signal: controller.signal })[Symbol.asyncIterator]();
    await pages.next();
    server.faults.next('append', { apply: 'now', delayMs: 50 });
    const stream = uniqueStream();
    const append = store.append(stream, 'no-stream', makeEvents(2));
    await store.close();
    t.is((await append)?.revision, 1n);
    const error = await t.throwsAsync(store.append(stream, 1n, makeEvents(1)), {
      instanceOf: StoreUnavailable,
    });
    t.false(error instanceof OutcomeUnknown);
    await t.throwsAsync(store.read(stream), { instanceOf: StoreUnavailable });
    controller.abort();
    t.true((await pages.next()).done);
    await store.close();
  },
);
