import test from 'ava';
import { orderAggregate } from '../../../../src/areas/payments/domain/order/order.js';
import type { PaymentCommands } from '../../../../src/areas/payments/commands/index.js';
import { orderNumber } from '../../../../src/areas/payments/domain/payment.js';
import { projectAggregate } from '../../../../src/areas/projects/domain/project/project.js';
import { expireOrders } from '../../../../src/areas/payments/commands/buying/placing.js';
import { givenReactions } from '../../../support/kernel/reactions.js';
import { appendEvents } from '../../../support/given/append-events.js';
import { otherUserId, userId } from '../../../support/examples/ids.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { outcomeOf } from '../../../support/given/outcome-of.js';
import { placeOrderAs } from '../../../support/given/an-order.js';
import type { ProjectEvent } from '../../../../src/areas/projects/domain/project/events.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const guarded = { code: 'two_factor_required', message: 'the session has passed none' } as const;
type PlaceOrderInput = Parameters<PaymentCommands['placeOrder']>[0];
const buyer: PlaceOrderInput['buyer'] = { user_id: userId, guarded };
const input: PlaceOrderInput = { buyer, plan_id: 'capacity-100g', provider: 'standard' };

async function given() {
  const stores = await givenStores();
  return { stores, ...givenCommands(stores) };
}

test('An order has the price of its plan in the currency of its provider', async (t) => {
  const { placeOrder } = await given();
  const { resource } = await placeOrder(input, givenContext(1, at));
  t.like(resource, {
    ...{ number: orderNumber(resource.id), user_id: userId, project_id: null, plan_id: 'capacity-100g' },
    ...{ amount: 999, currency: 'USD', provider: 'standard', status: 'created', refunded_amount: 0 },
    ...{ paid_at: null, expires_at: '2026-01-03T03:04:05.000Z', payments: [] },
  });
  const inYuan = await placeOrder({ ...input, provider: 'alipay' }, givenContext(2, at));
  t.like(inYuan.resource, { amount: 6_900, currency: 'CNY' });
  const named = await placeOrder({ ...input, currency: 'CNY' }, givenContext(3, at));
  t.like(named.resource, { amount: 6_900, currency: 'CNY', provider: 'standard' });
  const again = await placeOrder(input, givenContext(1, at));
  t.is(again.resource.id, resource.id, 'the same command places the same order');
});

test('The owners and admins of a project buy for it', async (t) => {
  const { stores, placeOrder, createProject, orders } = await given();
  const { resource } = await createProject({ ownerId: userId, name: 'Rivers' }, givenContext(1, at));
  const forProject = { ...input, plan_id: 'project-s3', project_id: resource.id };
  const target = { aggregate: projectAggregate, id: resource.id };
  const buy = (n: number, as = buyer) =>
    outcomeOf(placeOrder({ ...forProject, buyer: as }, givenContext(n, at)));
  const other = { user_id: otherUserId, guarded };
  const added = { user_id: otherUserId, invitation_id: null };
  t.is(await buy(2), 'passed');
  t.is(await buy(3, other), 'project_not_found');
  const happens = (event: ProjectEvent) => appendEvents(stores.handler, target, [event], at);
  await happens({ type: 'MemberAdded', data: { ...added, role: 'editor' } });
  t.is(await buy(4, other), 'insufficient_role');
  await happens({ type: 'MemberAdded', data: { ...added, role: 'admin' } });
  t.is(await buy(5, other), 'passed');
  await happens({ type: 'TwoFactorRequirementChanged', data: { require_2fa: true } });
  t.is(await buy(6, other), 'two_factor_required');
  t.is(await buy(7, { ...other, guarded: null }), 'passed');
  const page = { limit: 10, descending: true };
  t.is((await orders.page({ projectId: resource.id }, page, {})).items.length, 3);
  t.is((await orders.page({ userId: otherUserId }, page, {})).items.length, 2);
});

test('A user has at most a hundred open orders in two processes, and an ended order makes room', async (t) => {
  const { stores, placeOrder, cancelOrder, orders } = await given();
  const other = givenCommands(stores.anotherProcess());
  for (let n = 1; n <= 100; n += 1)
    await (n % 2 === 0 ? placeOrder : other.placeOrder)(input, givenContext(n, at));
  for (const [n, place] of [placeOrder, other.placeOrder].entries())
    t.is(await outcomeOf(place(input, givenContext(110 + n, at))), 'order_limit_reached');
  const [first = ''] = await orders.openIds(userId, 1);
  t.is(
    await outcomeOf(
      placeOrder({ ...input, buyer: { ...buyer, user_id: otherUserId } }, givenContext(1_000, at)),
    ),
    'passed',
  );
  await cancelOrder({ user_id: userId, order_id: first }, givenContext(1_001, at));
  t.is(await outcomeOf(placeOrder(input, givenContext(1_002, at))), 'passed');
  t.is(await outcomeOf(placeOrder(input, givenContext(1_003, at))), 'order_limit_reached');
});

test('An unpaid order expires at its time, also when the process was away', async (t) => {
  const { clock, handler, start, eventStore, reports } = givenReactions();
  const ids = [1, 2, 3].map((n) => `019b7d00-0000-7000-8000-00000000080${n}`);
  const reactions = [expireOrders({ handler, clock })];
  // The timers of the kernel tick each second, so the test uses a short day.
  const hour = 10_000;
  const place = (id: string, n: number) => {
    const expires_at = new Date(clock.now().getTime() + 24 * hour).toISOString();
    return placeOrderAs({ handler }, id, givenContext(n, clock.now()), { expires_at });
  };
  const typesOf = async (id: string) => (await eventStore.read(`order-${id}`)).map(({ type }) => type);
  const [early = '', canceled = '', late = ''] = ids;
  await place(early, 1);
  await place(canceled, 2);
  let runner = start({ reactions });
  await clock.advance(23 * hour);
  await place(late, 3);
  await handler.handle(
    { aggregate: orderAggregate, id: canceled },
    { type: 'Cancel' },
    givenContext(4, clock.now()),
  );
  t.deepEqual(await typesOf(early), ['OrderPlaced']);
  await clock.run(runner.stop());
  await clock.advance(2 * hour);
  t.deepEqual(await typesOf(early), ['OrderPlaced'], 'no process was running');
  runner = start({ reactions, holder: 'process 2' });
  await clock.advance(1_000);
  t.deepEqual(await typesOf(early), ['OrderPlaced', 'OrderExpired']);
  t.deepEqual(await typesOf(canceled), ['OrderPlaced', 'OrderCanceled']);
  t.deepEqual(await typesOf(late), ['OrderPlaced']);
  await clock.advance(22 * hour);
  t.deepEqual(await typesOf(late), ['OrderPlaced', 'OrderExpired']);
  t.is(runner.statuses()[0]?.open, 0);
  await clock.run(runner.stop());
  t.deepEqual(reports, []);
});
