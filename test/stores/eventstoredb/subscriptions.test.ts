import test, { type ExecutionContext } from 'ava';
import { appendDurably } from '../../../src/event-sourcing/deciding/append-durably.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import { makeEvents, uniqueStream } from '../../contracts/event-store-fixtures.js';
import { eventually } from '../../support/eventually.js';
import { makeSeededRandom, realClock } from '../../support/fakes/clock.js';
import {
  callMs,
  givenServer,
  openTestStore,
  makeProposed,
  type EventStoreDbServer,
} from '../../support/servers/eventstoredb-server/server.js';
import { consumerTooSlow } from '../../support/servers/eventstoredb-server/statuses.js';

/**
 * A poll interval longer than any test: only the subscription or an append of the same process wakes a follower here.
 */
const noPoll = { pollMs: 600_000 };

/** Follows the log in the background and collects ids. `seen` resolves when an id has arrived. */
function followIds(t: ExecutionContext, store: EventStore) {
  const controller = new AbortController();
  const ids: string[] = [];
  let check = (): void => undefined;
  const ended = (async () => {
    for await (const page of store.subscribe({ after: null, signal: controller.signal })) {
      ids.push(...page.events.map((event) => event.id));
      check();
    }
  })();
  t.teardown(async () => {
    controller.abort();
    await ended;
  });
  const seen = (id: string): Promise<void> =>
    new Promise((resolve) => {
      check = () => {
        if (ids.includes(id)) resolve();
      };
      check();
    });
  return { ids, seen };
}

/** Appends through the adapter of another process, so that only the server can wake the follower. */
async function appendElsewhere(server: EventStoreDbServer, count = 1): Promise<string> {
  const other = openTestStore(server.url);
  const id = await appendNew(other, count);
  await other.close();
  return id;
}

/** Appends a stream, and returns the id of its last event. */
async function appendNew(eventStore: EventStore, count = 1): Promise<string> {
  const events = makeEvents(count);
  await appendDurably(
    { eventStore, clock: realClock, random: makeSeededRandom(3) },
    { stream: uniqueStream(), expected: 'no-stream' },
    events,
    // The clients of one process share the back-off of their connections, so this one may have to wait.
    { limits: { tries: 100, totalMs: 60_000 } },
  );
  return events.at(-1)?.id ?? '';
}

test('Close appends of another process share pages', async (t) => {
  // Given a follower whose live subscription has sent an event
  const { server, store } = await givenServer(t, {}, { limits: noPoll });
  const other = openTestStore(server.url);
  t.teardown(() => other.close());
  const controller = new AbortController();
  let [pages, events] = [0, 0];
  const following = (async () => {
    for await (const page of store.subscribe({ after: null, signal: controller.signal })) {
      if (page.events.length > 0) pages += 1;
      events += page.events.length;
    }
  })();
  await appendNew(other);
  await eventually('the event arrives', () => events === 1);
  // When another process appends many events at once
  const [pagesBefore, began] = [pages, performance.now()];
  await Promise.all(Array.from({ length: 100 }, () => appendNew(other)));
  await eventually('all events arrive', () => events === 101);
  // Then there is at most one page for each 20 ms, and one at the beginning
  const windows = Math.floor((performance.now() - began) / 20);
  t.true(pages - pagesBefore <= windows + 2, `${pages - pagesBefore} pages in ${windows} windows`);
  controller.abort();
  await following;
});

const losses: readonly [what: string, strike: (server: EventStoreDbServer) => unknown][] = [
  [
    'dropped',
    (server) => {
      for (const subscription of server.subscriptions) subscription.drop(consumerTooSlow());
    },
  ],
  [
    'ended without an error',
    (server) => {
      for (const subscription of server.subscriptions) subscription.end();
    },
  ],
  ['cut off', (server) => server.network.cut()],
  [
    'refused for a while',
    async (server) => {
      server.faults.next('subscribe', { answer: 'unavailable' }, { answer: 'access-denied' });
      await server.network.refuse();
      await server.network.accept();
    },
  ],
];

for (const [what, strike] of losses) {
  test.serial(`A subscription that is ${what} is opened again and no event is lost`, async (t) => {
    const lost: string[] = [];
    const { server, store } = await givenServer(
      t,
      {},
      {
        limits: noPoll,
        onSubscriptionLost: (reason) => lost.push(reason),
      },
    );
    const following = followIds(t, store);
    await eventually('the follower subscribes', () => server.subscriptions.size === 1);
    const before = await appendElsewhere(server);
    await following.seen(before);
    await strike(server);
    const meanwhile = await appendElsewhere(server);
    await following.seen(meanwhile);
    const later = await appendElsewhere(server);
    await following.seen(later);
    t.deepEqual(following.ids, [before, meanwhile, later]);
    t.true(lost.length >= 1);
  });
}

test.serial('A subscription that was never confirmed is opened again', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { ...noPoll, callMs } });
  server.faults.next('subscribe', { answer: 'nothing' });
  const following = followIds(t, store);
  await eventually(
    'the follower subscribes again',
    () => server.faults.calls.filter((call) => call.kind === 'subscribe').length === 2,
  );
  const id = await appendElsewhere(server);
  await following.seen(id);
  t.deepEqual(following.ids, [id]);
});

test.serial('The follower polls the log while a subscription is silent', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: { pollMs: 20 } });
  const following = followIds(t, store);
  await eventually('the follower subscribes', () => server.subscriptions.size === 1);
  for (const subscription of server.subscriptions) subscription.stall();
  const id = await appendElsewhere(server);
  await following.seen(id);
  t.deepEqual(following.ids, [id]);
  t.is(server.subscriptions.size, 1, 'one silent moment does not cause a new subscription');
});

test.serial('A subscription that stays silent about a growing log is replaced', async (t) => {
  const lost: string[] = [];
  const { server, store } = await givenServer(
    t,
    {},
    {
      limits: { pollMs: 20, silenceMs: 100 },
      onSubscriptionLost: (reason) => lost.push(reason),
    },
  );
  const following = followIds(t, store);
  await eventually('the follower subscribes', () => server.subscriptions.size === 1);
  for (const subscription of server.subscriptions) subscription.stall();
  const ids: string[] = [];
  while (lost.length === 0) {
    ids.push(await appendElsewhere(server));
    await following.seen(ids.at(-1) ?? '');
  }
  t.deepEqual(lost, ['it fell silent']);
  t.deepEqual(following.ids, ids);
});

test.serial(
  'A log that grew while no follower was there makes no new subscription count as silent',
  async (t) => {
    let laterMs = 0;
    const clock = { ...realClock, steadyMs: () => realClock.steadyMs() + laterMs };
    const lost: string[] = [];
    const { server, store } = await givenServer(
      t,
      {},
      { limits: { ...noPoll, callMs: 600_000 }, clock, onSubscriptionLost: (reason) => lost.push(reason) },
    );
    const grow = async (): Promise<void> => {
      const { cursor } = await store.readAll({ after: null, limit: 100 });
      await appendElsewhere(server);
      const { events } = await store.readAll({ after: cursor, limit: 100 });
      t.is(events.length, 1);
    };
    // Given reads of a growing log after the last follower has left
    const first = new AbortController();
    for await (const page of store.subscribe({ after: null, signal: first.signal })) {
      if (page.atHead) first.abort();
    }
    await eventually('the subscription ends', () => server.subscriptions.size === 0);
    await grow();
    laterMs = 600_000;
    await grow();
    laterMs = 1_200_000;
    lost.length = 0;
    // When a follower returns, and the log grows before the new subscription is confirmed
    server.faults.next('subscribe', { answer: 'nothing' });
    followIds(t, store);
    await eventually(
      'the follower subscribes again',
      () => server.faults.calls.filter(({ kind }) => kind === 'subscribe').length === 2,
    );
    await grow();
    // Then the subscription is kept
    t.deepEqual(lost, []);
  },
);

test.serial('A subscription that was silent for a moment outlives a step of the wall clock', async (t) => {
  // Given a subscription that has not heard the last event
  let setByMs = 0;
  const clock = {
    ...realClock,
    now: () => new Date(realClock.now().getTime() + setByMs),
  };
  const lost: string[] = [];
  const { server, store } = await givenServer(
    t,
    {},
    { limits: { ...noPoll, callMs: 600_000 }, clock, onSubscriptionLost: (reason) => lost.push(reason) },
  );
  followIds(t, store);
  await eventually('the follower subscribes', () => server.subscriptions.size === 1);
  for (const subscription of server.subscriptions) subscription.stall();
  const grow = async (): Promise<void> => {
    const { cursor } = await store.readAll({ after: null, limit: 100 });
    await appendElsewhere(server);
    t.is((await store.readAll({ after: cursor, limit: 100 })).events.length, 1);
  };
  await grow();
  await grow();
  // When an operator sets the clock ahead by an hour
  setByMs = 3_600_000;
  await grow();
  // Then
  t.deepEqual(lost, []);
});

test.serial('Events arrive at once after the wall clock was set back by an hour', async (t) => {
  // Given a follower at the end of the log
  let setByMs = 0;
  const clock = { ...realClock, now: () => new Date(realClock.now().getTime() + setByMs) };
  const { server, store } = await givenServer(t, {}, { limits: { ...noPoll, callMs: 600_000 }, clock });
  const { seen } = followIds(t, store);
  await seen(await appendElsewhere(server));
  // When an operator sets the clock back, and the log grows
  setByMs = -3_600_000;
  // Then
  await seen(await appendElsewhere(server));
  await seen(await appendElsewhere(server));
  t.pass();
});

test.serial('A working subscription is kept, also after long pauses', async (t) => {
  const lost: string[] = [];
  const { server, store } = await givenServer(
    t,
    {},
    {
      limits: { pollMs: 5, silenceMs: 30 },
      onSubscriptionLost: (reason) => lost.push(reason),
    },
  );
  const following = followIds(t, store);
  await eventually('the follower subscribes', () => server.subscriptions.size === 1);
  for (let round = 0; round < 5; round += 1) {
    const events = makeEvents(1);
    await store.append(uniqueStream(), 'no-stream', events);
    await following.seen(events[0]?.id ?? '');
    await following.seen(await appendElsewhere(server));
    await realClock.sleep(40);
  }
  t.deepEqual(lost, []);
});

test.serial(
  'An append of more events than the server buffers drops its subscriptions, and no event is lost',
  async (t) => {
    const { server, store } = await givenServer(t, { liveBufferMax: 32 }, { limits: noPoll });
    const following = followIds(t, store);
    await eventually('the follower subscribes', () => server.subscriptions.size === 1);
    for (let round = 0; round < 3; round += 1) await following.seen(await appendElsewhere(server, 200));
    t.is(following.ids.length, 600);
    t.is(new Set(following.ids).size, 600);
  },
);

test.serial('Streams of other programs wake no follower, and their checkpoints do no harm', async (t) => {
  const { server, store } = await givenServer(t, {}, { limits: noPoll });
  const following = followIds(t, store);
  await eventually('the follower subscribes', () => server.subscriptions.size === 1);
  const reads = (): number => server.faults.calls.filter((call) => call.kind === 'read').length;
  const before = reads();
  for (let count = 0; count < 100; count += 1) {
    server.log.append(`foreign-${count}`, 'no-stream', [makeProposed({})]);
  }
  t.is(reads(), before);
  const id = await appendElsewhere(server);
  await following.seen(id);
  t.deepEqual(following.ids, [id]);
});

test.serial('The follower retries while the server is away, and continues from its position', async (t) => {
  const retries: number[] = [];
  const { server, store } = await givenServer(
    t,
    {},
    {
      limits: { pollMs: 10 },
      onRetry: (_error, attempt) => retries.push(attempt),
    },
  );
  const following = followIds(t, store);
  await following.seen(await appendElsewhere(server));
  await server.network.refuse();
  await eventually('two attempts fail', () => retries.length >= 2);
  await server.network.accept();
  const id = await appendElsewhere(server);
  await following.seen(id);
  t.is(following.ids.length, 2);
  t.deepEqual(retries.slice(0, 2), [0, 1]);
});
