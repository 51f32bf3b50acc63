import test from 'ava';
import type { OutgoingHttp } from '../../src/outgoing/outgoing-http.js';
import { rejectedBy } from '../../src/kit/time/time-limit.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import type { StateStore } from '../../src/event-sourcing/ports/state-store.js';
import { feederKey, makeLease } from '../../src/event-sourcing/feeding/consumers/lease.js';
import { eventually } from '../support/eventually.js';
import { givenEndpoint, typesAt } from '../support/given/given-endpoint.js';
import { anId } from '../support/given/given-webhooks.js';
import { makePatientHttp } from '../support/clients/patient-http.js';
import { feedTwice, taken } from '../support/simulation/feed-twice.js';

const unguarded = makePatientHttp({ isAllowed: () => true });

/**
 * The outside of a process that can be killed: after that, no answer reaches it and it sends and writes nothing. It also
 * dies before or after its write number `count`.
 */
function killable(
  stateStore: StateStore,
  at?: { readonly count: number; readonly when: 'before' | 'after' },
) {
  const dead = new AbortController();
  let writes = 0;
  const died = () => Promise.reject(new StoreUnavailable('the process is dead'));
  const http: OutgoingHttp = async (request, signal) => {
    const reply = dead.signal.aborted ? null : await unguarded(request, signal);
    // The receiver may have the message, and the process dies before it learns of it.
    if (dead.signal.aborted && signal !== undefined) return rejectedBy(signal);
    return reply ?? died();
  };
  const compareAndSet: StateStore['compareAndSet'] = async (...args) => {
    if (dead.signal.aborted) return died();
    writes += 1;
    const isLast = writes === at?.count;
    if (isLast) dead.abort();
    if (isLast && at.when === 'before') return died();
    const version = await stateStore.compareAndSet(...args);
    return isLast ? died() : version;
  };
  return {
    parts: { http, stateStore: { ...stateStore, compareAndSet } },
    kill: () => dead.abort(),
    isDead: () => dead.signal.aborted,
  };
}

test('A process that dies between send and checkpoint repeats the message with its webhook-id', async (t) => {
  // Given a process whose receiver kills it at the first message
  const { receiver, endpoints, begin, ...world } = await givenEndpoint(t);
  const dying = killable(world.stateStore);
  receiver.answerWith(() => {
    dying.kill();
    return 204;
  });
  const first = await begin(dying.parts);
  await world.appendToOrder(anId(1), 'OrderPlaced', 'OrderExpired');
  await receiver.acceptedCount(1);
  t.false(first.reports.some((report) => report.startsWith('delivered')));
  // When another process takes the endpoint over
  world.start(endpoints);
  // Then it sends the message again, with the same id, and then the next one
  await receiver.acceptedCount(3);
  const ids = receiver.accepted.map(({ id }) => id);
  t.deepEqual(typesAt(receiver), ['order.placed', 'order.placed', 'order.expired']);
  t.is(ids[0], ids[1]);
  t.not(ids[1], ids[2]);
});

for (const when of ['before', 'after'] as const) {
  test(`A process that dies ${when} any write of its records loses no message and no order`, async (t) => {
    let count = 0;
    for (let isDead = true; isDead;) {
      count += 1;
      // Given an endpoint, and two orders that change while it is off
      const { receiver, endpoints, id, listed, begin, ...world } = await givenEndpoint(t);
      const before = await begin();
      await before.runner.stop();
      const orders = [anId(1), anId(2)];
      for (const order of orders) await world.appendToOrder(order, 'OrderPlaced', 'OrderExpired');
      const head = await world.eventStore.head();
      // When a process dies at one of its writes, and another one takes the endpoint over
      const dying = killable(world.stateStore, { count, when });
      const { runner } = world.start(endpoints, dying.parts);
      await eventually('end', async () => {
        // A checkpoint is saved each second.
        world.advance(1_000);
        const isDone = receiver.accepted.length >= 4 && (await world.records.endpoint(id))?.position === head;
        return dying.isDead() || (isDone && (await listed())?.pending === 0);
      });
      isDead = dying.isDead();
      await runner.stop();
      world.start(endpoints);
      // Then all messages arrive in order
      await eventually('all messages', () => {
        world.advance(5_000);
        return orders.every((order) => taken(receiver, order).length === 2);
      });
      for (const order of orders) t.deepEqual(taken(receiver, order), ['order.placed', 'order.expired']);
    }
    t.true(count > 8, `${count} writes`);
  });
}

test('Two processes that feed one endpoint at once lose nothing and keep the order of each resource', async (t) => {
  // `test/deep` runs twenty of these histories.
  await feedTwice(t, 2);
});

test('Only the owner of the lease feeds an endpoint, and another process takes it over', async (t) => {
  const { receiver, endpoints, id: endpoint, ...world } = await givenEndpoint(t);
  const { stateStore, clock } = world;
  const start = (id: string) => {
    const lease = makeLease({ id, keyOf: feederKey, stateStore, clock, onRetry: () => undefined });
    const { runner } = world.start(endpoints, { lease });
    lease.start();
    t.teardown(() => lease.stop());
    return { lease, feeds: () => runner.statuses().length === 1 };
  };
  // Given two processes
  const first = start('first');
  await eventually('owner', first.feeds);
  const second = start('second');
  await eventually('look', () => second.lease.elsewhere()?.owner === 'first');
  t.false(second.feeds());
  // When the first one ends
  await first.lease.stop();
  // Then the other one feeds the endpoint
  await eventually('takeover', second.feeds);
  await eventually('record', async () => (await world.records.endpoint(endpoint)) !== null);
  await world.appendToOrder(anId(1), 'OrderPlaced');
  await receiver.acceptedCount(1);
});
