import test from 'ava';
import { orderAggregate, type OrderCommand } from '../../../../src/areas/payments/domain/order/order.js';
import { holds, projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import {
  checkEntitlementGrants,
  fulfilOrders,
} from '../../../../src/areas/payments/commands/buying/fulfilling.js';
import type { AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import { orderId, userId } from '../../../support/examples/ids.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { serveEvent } from '../../../support/given/serve-reaction.js';
import { aReport, anOrder } from '../../../support/given/an-order.js';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';

const at = new Date('2026-01-02T03:04:05.000Z');

async function givenPaidOrder() {
  let before: ((type: string) => Promise<void>) | null = null;
  let after: (type: string) => Promise<void> = () => Promise.resolve();
  const stores = await givenStores({
    wrap: (store) => ({
      ...store,
      append: async (stream, expected, events, options) => {
        const hook = before;
        before = null;
        await hook?.(events[0]?.type ?? '');
        const appended = await store.append(stream, expected, events, options);
        await after(events[0]?.type ?? '');
        return appended;
      },
    }),
  });
  const world = givenCommands(stores);
  const { handler, eventStore } = stores;
  const { resource } = await world.createProject({ ownerId: userId, name: 'Rivers' }, givenContext(1, at));
  const projectId = resource.id;
  let commands = 10;
  // Reports reach another process, so they come at any time.
  const other = stores.anotherProcess().handler;
  const tell = (command: OrderCommand) =>
    other.handle({ aggregate: orderAggregate, id: orderId }, command, givenContext((commands += 1), at));
  const report = (name: string, fact: PaymentFact, minute = 0) => {
    const told = { callback: `standard-${name}`, at: new Date(at.getTime() + minute * 60_000) };
    return tell({ type: 'Report', reports: [aReport(fact, told)] });
  };
  const grant = { entitlement: 'allow_s3' } as const;
  await tell({ type: 'Place', ...anOrder({ project_id: projectId, grant, amount: 1_900 }) });
  const fulfil = async () => {
    const wasOwed = await world.fulfilOrder.isOwed(orderId);
    await world.fulfilOrder.fulfil(orderId, givenContext((commands += 1), at));
    return wasOwed;
  };
  const isEntitled = async () => (await world.projects.access(projectId))?.entitlements.allow_s3;
  const marks = async () =>
    (await eventStore.read(`order-${orderId}`))
      .map(({ type }) => type)
      .filter((type) => type === 'OrderFulfilled' || type === 'FulfilmentRevoked');
  const isOwed = () => world.fulfilOrder.isOwed(orderId);
  /** Serves the newest event of the project as a reaction does. */
  const serve = async (reaction: AnyReaction) => {
    const { events } = await eventStore.readAll({ after: null, limit: 100 });
    const stored = events.findLast(({ stream }) => stream === `project-${projectId}`);
    const asked = stored === undefined ? null : await serveEvent(reaction, stored);
    if (asked === null) throw new Error('the reaction does not follow the newest event');
    return asked;
  };
  const newest = async () => (await eventStore.read(`order-${orderId}`)).at(-1)?.type;
  const ids = async () => (await eventStore.readAll({ after: null, limit: 100 })).events.map(({ id }) => id);
  return {
    ...{ handler, projectId, report, fulfil, isEntitled, marks, isOwed, newest, ids, serve },
    checkGrants: checkEntitlementGrants(world.fulfilOrder),
    /** Runs a hook right before the next append. */
    beforeAppend: (hook: (type: string) => Promise<void>) => void (before = hook),
    /** Runs a hook right after every append. */
    afterAppend: (hook: (type: string) => Promise<void>) => void (after = hook),
  };
}

const paid = { kind: 'paid', amount: 1_900, currency: 'USD' } as const;
const refunded = { kind: 'refunded-in-total', amount: 1_900, currency: 'USD' } as const;

test('A paid order grants its entitlement to the project, and a full refund revokes it', async (t) => {
  const { report, fulfil, isEntitled, marks } = await givenPaidOrder();
  t.false(await fulfil(), 'nothing is owed before the payment');
  await report('c1', paid);
  t.true(await fulfil());
  t.true(await isEntitled());
  t.false(await fulfil());
  await report('c2', refunded);
  t.true(await fulfil());
  t.false(await isEntitled());
  t.deepEqual(await marks(), ['OrderFulfilled', 'FulfilmentRevoked']);
});

test('Every change of what an order grants is an event that the reaction follows', async (t) => {
  const { report, fulfil, isOwed, newest } = await givenPaidOrder();
  const { types } = fulfilOrders({
    isOwed: () => Promise.resolve(true),
    isUnderWay: () => false,
    fulfil: () => Promise.resolve(),
  });
  const followed = new Set<string>(types);
  const dispute = { kind: 'dispute', dispute_id: 'd1' } as const;
  const reports = [paid, { ...dispute, status: 'lost' }, { ...dispute, status: 'won' }, refunded] as const;
  for (const [n, fact] of reports.entries()) {
    await report(`c${n + 1}`, fact, n);
    t.true(await isOwed(), fact.kind);
    t.true(followed.has(String(await newest())), `${fact.kind} is recorded as ${await newest()}`);
    await fulfil();
  }
});

test('A deleted project gets no grant and owes none', async (t) => {
  const { handler, projectId, report, fulfil, marks } = await givenPaidOrder();
  await report('c1', paid);
  await fulfil();
  await handler.handle(
    { aggregate: projectAggregate, id: projectId },
    { type: 'Delete' },
    givenContext(2, at),
  );
  t.false(await fulfil());
  await report('c2', refunded);
  t.true(await fulfil());
  t.deepEqual(await marks(), ['OrderFulfilled', 'FulfilmentRevoked']);
});

test('A refund between the read and the grant is noticed after the grant, because no other command reads again', async (t) => {
  const { report, fulfil, isEntitled, marks, beforeAppend, isOwed } = await givenPaidOrder();
  await report('c1', paid);
  beforeAppend(async (type) => {
    t.is(type, 'EntitlementGranted');
    await report('c2', refunded);
    t.false(await isOwed(), 'a reaction to the refund finds nothing to revoke');
  });
  await fulfil();
  t.false(await isEntitled());
  t.deepEqual(await marks(), []);
});

test('A grant that a process appends after a refund, and before its end, is revoked by the reaction to the grant', async (t) => {
  const { handler, projectId, report, fulfil, isEntitled, isOwed, ...given } = await givenPaidOrder();
  const { beforeAppend, afterAppend, serve, checkGrants } = given;
  await report('c1', paid);
  // Given a process that grants after a refund, and stops
  beforeAppend(async () => {
    await report('c2', refunded);
    t.false(await isOwed(), 'the reaction to the refund finds nothing to revoke');
  });
  afterAppend((type) =>
    type === 'EntitlementGranted' ? Promise.reject(new Error('stopped')) : Promise.resolve(),
  );
  await t.throwsAsync(fulfil(), { message: 'stopped' });
  const { state } = await handler.load(projectAggregate, projectId);
  t.true(state.status === 'existing' && holds(state, { entitlement: 'allow_s3', source: orderId }));
  // When another process serves the grant
  t.is(await serve(checkGrants), 'yes');
  // Then the refunded order has no grant, and the revocation needs no further step
  t.false(await isEntitled());
  t.is(await serve(checkGrants), 'no');
});

test('A grant by an operator causes no look at an order', async (t) => {
  const { checkGrants, handler, projectId, serve } = await givenPaidOrder();
  const project = { aggregate: projectAggregate, id: projectId };
  const granted = { type: 'GrantEntitlement', entitlement: 'allow_s3', source: 'operator' } as const;
  await handler.handle(project, granted, givenContext(3, at));
  t.is(await serve(checkGrants), 'no');
});

test('A grant, a revocation and a second grant in one command are three events with different ids', async (t) => {
  const { report, fulfil, isEntitled, marks, afterAppend, ids } = await givenPaidOrder();
  await report('c1', paid);
  // Given a full refund after the grant, and a correction of the refund after the revocation
  afterAppend(async (type) => {
    if (type === 'OrderFulfilled') await report('c2', refunded, 1);
    if (type === 'FulfilmentRevoked') await report('c3', { ...refunded, amount: 0 }, 2);
  });
  // When one command fulfils the order
  await fulfil();
  // Then its steps are not duplicates of each other: stores and reactions know an event by its id
  t.deepEqual(await marks(), ['OrderFulfilled', 'FulfilmentRevoked', 'OrderFulfilled']);
  t.true(await isEntitled());
  const all = await ids();
  t.is(new Set(all).size, all.length);
});
