import test from 'ava';
import { appendDurably } from '../../../src/event-sourcing/deciding/append-durably.js';
import {
  OutcomeUnknown,
  StoreUnavailable,
  WrongExpectedRevision,
} from '../../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { makeEvents, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { eventually } from '../../support/eventually.js';
import { untilAvailable } from '../../support/clients/store-calls.js';
import { makeSeededRandom, realClock } from '../../support/fakes/clock.js';
import {
  callMs,
  givenServer,
  slackMs,
  makeProposed,
  type EventStoreDbServer,
} from '../../support/servers/eventstoredb-server/server.js';
import type { Fault } from '../../support/servers/eventstoredb-server/faults.js';

const deps = { clock: realClock, random: makeSeededRandom(7) };

const outages: readonly [what: string, strike: (server: EventStoreDbServer) => unknown][] = [
  ['accepts connections and never answers', (server) => server.network.freeze()],
  ['refuses connections', (server) => server.network.refuse()],
  [
    'takes every call and answers none',
    (server) => server.faults.decideBy(() => ({ apply: 'never', answer: 'nothing' })),
  ],
  ['is not ready', (server) => server.faults.decideBy(() => ({ apply: 'never', answer: 'not-ready' }))],
  [
    'breaks the connection at every call',
    (server) => server.faults.decideBy(() => ({ apply: 'never', answer: 'cut' })),
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
      `Every call ends within its time limit when the server ${what}${connected ? '' : ' from the start'}`,
      async (t) => {
        const { server, store } = await givenServer(t, {}, { limits: { callMs } });
        const [first, events] = [uniqueStream(), makeEvents(1)];
        if (connected) await untilAvailable(() => store.append(first, 'no-stream', events));
        await strike(server);
        const startedMs = performance.now();
        const reads = calls.map(([name, call]) =>
          t.throwsAsync(call(store), { instanceOf: StoreUnavailable }, name),
        );
        const append = store.append(uniqueStream(), 'no-stream', makeEvents(2));
        const error = await t.throwsAsync(append, { instanceOf: StoreUnavailable });
        if (!connected) t.false(error instanceof OutcomeUnknown, 'nothing was sent');
        await Promise.all(reads);
        t.true(performance.now() - startedMs < callMs + slackMs);
      },
    );
  }
}

test.serial('The store works again as soon as the server answers again', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs } });
  const stream = uniqueStream();
  const first = makeEvents(1);
  await untilAvailable(() => store.append(stream, 'no-stream', first));
  await server.network.refuse();
  await t.throwsAsync(store.read(stream), { instanceOf: StoreUnavailable });
  await server.network.accept();
  t.is((await untilAvailable(() => store.read(stream))).length, 1);
  server.network.freeze();
  await t.throwsAsync(store.read(stream), { instanceOf: StoreUnavailable });
  server.network.thaw();
  const second = makeEvents(1);
  t.is((await untilAvailable(() => store.append(stream, 0n, second))).revision, 1n);
});

for (const answer of ['nothing', 'cut', 'unavailable', 'timeout', 'unknown'] as const) {
  test.serial(`A read that breaks off after some events (${answer}) returns none`, async (t) => {
    const { server, store } = await givenServer(t, {}, { limits: { callMs } });
    const stream = uniqueStream();
    const written = makeEvents(5);
    await untilAvailable(() => store.append(stream, 'no-stream', written));
    server.faults.decideBy(({ kind }) => (kind === 'read' ? { answer, afterEvents: 3 } : undefined));
    await t.throwsAsync(store.read(stream), { instanceOf: StoreUnavailable });
    // The events before a stall are a page; after an error nothing is certain.
    if (answer !== 'nothing')
      await t.throwsAsync(store.readAll({ after: null, limit: 10 }), { instanceOf: StoreUnavailable });
    server.faults.decideBy(null);
    t.is((await untilAvailable(() => store.read(stream))).length, 5);
  });
}

const unsettled: readonly Fault[] = [
  ...(['nothing', 'cut', 'unavailable', 'cancelled'] as const).flatMap((answer): Fault[] => [
    { apply: 'now', answer },
    { apply: 'never', answer },
    { apply: { afterMs: 60 }, answer },
  ]),
  ...(['timeout', 'not-ready', 'unknown'] as const).map((answer): Fault => ({ apply: 'never', answer })),
  { apply: 'never', answer: 'not-leader' },
  { apply: 'now', answer: 'normal', delayMs: callMs * 2 },
];

for (const fault of unsettled) {
  test.serial(
    `An append under ${JSON.stringify(fault)} is unknown, and its repetition leaves it written once`,
    async (t) => {
      const { server, store } = await givenServer(t, {}, { limits: { callMs } });
      const stream = uniqueStream();
      const first = makeEvents(1);
      await untilAvailable(() => store.append(stream, 'no-stream', first));
      const events = makeEvents(3);
      server.faults.next('append', fault);
      await t.throwsAsync(store.append(stream, 0n, events), { instanceOf: OutcomeUnknown });
      server.faults.next('append', fault);
      const { revision } = await appendDurably(
        { eventStore: store, ...deps },
        { stream, expected: 0n },
        events,
      );
      t.is(revision, 3n);
      await realClock.sleep(100);
      const stored = await untilAvailable(() => store.read(stream));
      t.deepEqual(
        stored.slice(1).map((event) => event.id),
        events.map((event) => event.id),
      );
    },
  );
}

for (const apply of ['now', 'never', { afterMs: 20 }] as const) {
  test.serial(
    `An append whose every answer is lost (applied: ${JSON.stringify(apply)}) is found in the stream, or stays unknown`,
    async (t) => {
      const { server, store } = await givenServer(t, {}, { limits: { callMs } });
      const stream = uniqueStream();
      server.faults.decideBy((call) =>
        call.kind === 'append' ? { apply, answer: 'unavailable' } : undefined,
      );
      const append = appendDurably(
        { eventStore: store, ...deps },
        { stream, expected: 'no-stream' },
        makeEvents(2),
      );
      if (apply === 'never') await t.throwsAsync(append, { instanceOf: OutcomeUnknown });
      else t.like(await append, { revision: 1n });
      server.faults.decideBy(null);
      t.is((await untilAvailable(() => store.read(stream))).length, apply === 'never' ? 0 : 2);
    },
  );
}

test.serial(
  'An unknown append that another append overtook is a lost race, and is not written',
  async (t) => {
    const { server, store } = await givenServer(t, {}, { limits: { callMs } });
    const stream = uniqueStream();
    server.faults.next('append', { apply: { afterMs: 60 }, answer: 'unavailable' });
    const append = appendDurably(
      { eventStore: store, ...deps },
      { stream, expected: 'no-stream' },
      makeEvents(2),
    );
    await eventually('the call arrives', () => server.faults.calls.length > 0);
    server.log.append(`test.${stream}`, 'no-stream', [makeProposed({})]);
    await t.throwsAsync(append, { instanceOf: WrongExpectedRevision });
    await realClock.sleep(80);
    t.is((await untilAvailable(() => store.read(stream))).length, 1);
  },
);

test.serial('A refusal for lack of rights is certain: nothing was written', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs } });
  server.faults.next('append', { apply: 'never', answer: 'access-denied' });
  const error = await t.throwsAsync(store.append(uniqueStream(), 'no-stream', makeEvents(1)));
  t.true(error instanceof StoreUnavailable);
  t.false(error instanceof OutcomeUnknown);
  t.regex(error.message, /rights/);
});

test.serial('A caller can end a read of the log', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { callMs: 600_000 } });
  server.network.freeze();
  const controller = new AbortController();
  const { signal } = controller;
  const ended = t.throwsAsync(store.readAll({ after: null, limit: 1, signal }), {
    instanceOf: StoreUnavailable,
  });
  controller.abort();
  await ended;
  server.network.thaw();
});

for (const [what, limit, call] of [
  ['reads', { readsMax: 2 }, (store: EventStore) => store.read(uniqueStream())],
  [
    'appends',
    { appendsMax: 2 },
    (store: EventStore) => store.append(uniqueStream(), 'no-stream', makeEvents(1)),
  ],
] as const) {
  test.serial(
    `The store refuses ${what} that wait too long for a permit, and sends none of them`,
    async (t) => {
      const limits = { callMs: 600_000, permitMs: 20, ...limit };
      const { server, store } = await givenServer(t, {}, { limits });
      await store.append(uniqueStream(), 'no-stream', makeEvents(1));
      server.faults.decideBy(() => ({ apply: 'never', answer: 'nothing' }));
      const before = server.faults.calls.length;
      // Given calls with every permit
      const holders = [call(store), call(store)];
      await eventually('both calls arrive', () => server.faults.calls.length >= before + 2);
      // When another one waits
      const error = await t.throwsAsync(call(store), { instanceOf: StoreUnavailable, message: /2 calls/ });
      t.false(error instanceof OutcomeUnknown);
      t.is(server.faults.calls.length, before + 2);
      // Then it was refused, while a read of the log needs no permit
      server.faults.decideBy(null);
      t.true((await store.readAll({ after: null, limit: 10 })).atHead);
      server.network.cut();
      await Promise.allSettled(holders);
    },
  );
}

test.serial('Closing settles the pending calls, refuses later ones, and reports no late error', async (t) => {
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
});
