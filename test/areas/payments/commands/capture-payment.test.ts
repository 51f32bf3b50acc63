import test from 'ava';
import { makePaymentReports } from '../../../../src/areas/payments/commands/callbacks/reports.js';
import { orderNumber, reportKeyOf } from '../../../../src/areas/payments/domain/payment.js';
import { checkoutAggregate } from '../../../../src/areas/payments/domain/checkout/checkout.js';
import {
  orderAggregate,
  type OrderCommand,
  orderLifeMs,
} from '../../../../src/areas/payments/domain/order/order.js';
import { userAggregate } from '../../../../src/areas/accounts/domain/user/user.js';
import { contextFor, eventFor, type AnyReaction } from '../../../../src/event-sourcing/effects/reaction.js';
import {
  type CaptureRequest,
  PlatformError,
} from '../../../../src/areas/payments/platforms/payment-maker.js';
import { digest, orderId, projectId, userId } from '../../../support/examples/ids.js';
import { register } from '../../../support/examples/user.js';
import { makeTestClock } from '../../../support/fakes/clock.js';
import { makeTestPaymentMaker } from '../../../support/fakes/test-payment-maker.js';
import { givenCommands } from '../../../support/given/given-commands.js';
import { givenContext, givenStores } from '../../../support/given/given-stores.js';
import { pluck } from '../../../support/given/pluck.js';
import { serveReaction } from '../../../support/given/serve-reaction.js';
import { aPayment, aReport, anOrder } from '../../../support/given/an-order.js';
import type { PaymentFact } from '../../../../src/areas/payments/domain/fact.js';

/** An order with a payment that its buyer approved, a platform that takes money once for a key, and processes. */
async function givenApproved({ isRegistered = true, project = null as string | null } = {}) {
  const clock = makeTestClock();
  const stores = await givenStores({ clock, mayLag: true });
  const { handler, eventStore } = stores;
  let commands = 0;
  const context = () => givenContext((commands += 1), clock.now());
  const captures: CaptureRequest[] = [];
  const failures: PlatformError[] = [];
  const maker = {
    ...makeTestPaymentMaker({ now: () => clock.now() }),
    capture: (request: CaptureRequest) => {
      captures.push(request);
      const failure = failures.shift();
      return failure === undefined ? Promise.resolve() : Promise.reject(failure);
    },
  };
  if (isRegistered) await handler.handle({ aggregate: userAggregate, id: userId }, register, context());
  const tell = (command: OrderCommand) =>
    handler.handle({ aggregate: orderAggregate, id: orderId }, command, context());
  await tell({ type: 'Place', ...anOrder({ project_id: project }) });
  const report = (fact: PaymentFact) =>
    tell({ type: 'Report', reports: [aReport(fact, { at: clock.now() })] });
  const paymentReports = makePaymentReports({ ...stores, paymentMakers: new Map() });
  const change = (command: Parameters<typeof checkoutAggregate.decider.decide>[0]) =>
    handler.handle({ aggregate: checkoutAggregate, id: orderId }, command, context());
  const make = (reference: string) =>
    change({
      ...({ type: 'RecordPayment', now: clock.now() } as const),
      payment: aPayment({ project_id: project, reference, expires_at: clock.now().toISOString() }),
    });
  const approve = (reference: string, approval: string) =>
    change({ type: 'Approve', approved: { provider: 'standard', reference, approval } });
  /** Reports that a buyer approved a payment. */
  const receive = async (reference: string, { isMade = false } = {}) => {
    if (isMade) await make(reference);
    const notification = { order_number: orderNumber(orderId), transaction_id: null, reference };
    const report = {
      ...{ key: reportKeyOf('standard', reference), digest, is_ours: true, order_id: null },
      notifications: [{ ...notification, fact: { kind: 'approved' } as const, at: null }],
      received_at: clock.now().toISOString(),
    };
    return paymentReports.report('standard', report, context());
  };
  await make('made-1');
  await approve('made-1', 'approval-1');

  const processOf = (of: typeof stores, paymentMakers = new Map([['standard', maker]] as const)) => {
    const world = givenCommands(of, { paymentMakers });
    const reaction = world.paymentReactions.captureApprovedPayments;
    const open = async () => {
      const { events } = await eventStore.readAll({ after: null, limit: 1_000 });
      const own = events
        .map((stored) => eventFor(reaction as AnyReaction, stored))
        .filter((event) => event !== null);
      const asked = [];
      for (const event of own as Parameters<typeof reaction.asks>[0][]) {
        if ((await reaction.asks(event)) === 'yes') asked.push(event);
      }
      return asked;
    };
    type Open = Parameters<typeof reaction.asks>[0];
    const perform = (event: Open) =>
      reaction.perform?.(event, new AbortController().signal) ?? Promise.reject(new Error('no effect'));
    type Outcome = Awaited<ReturnType<typeof perform>>;
    const conclude = (event: Open, outcome: Outcome) =>
      reaction.conclude(event, contextFor(reaction, event), outcome);
    return {
      open,
      perform,
      conclude,
      /** Serves each open event once. */
      react: () => serveReaction(reaction, of),
    };
  };
  return {
    ...{ clock, stores, captures, failures, tell, report, approve, receive },
    ...processOf(stores),
    another: () => processOf(stores.anotherProcess()),
    withoutCredentials: () => processOf(stores, new Map()),
    outcomes: async () => {
      const events = await eventStore.read(`checkout-${orderId}`, { limit: 100 });
      return events.map(({ type }) => type).filter((type) => type.startsWith('Capture'));
    },
  };
}

test('An approved payment is captured once, also by two processes and after a crash before the outcome', async (t) => {
  const { open, perform, conclude, another, react, captures, outcomes } = await givenApproved();
  const other = another();
  const [[mine], [theirs]] = [await open(), await other.open()];
  if (mine === undefined || theirs === undefined) throw new Error('nothing is open');

  // When a process stops after the platform took the capture on, and two others repeat it
  await perform(mine);
  await conclude(mine, await perform(mine));
  await other.conclude(theirs, await other.perform(theirs));

  // Then each asked with one key, and the stream has one outcome
  t.is(captures.length, 3);
  t.is(new Set(pluck(captures, 'idempotencyKey')).size, 1);
  t.regex(captures[0]?.idempotencyKey ?? '', /^[0-9a-f]{64}$/);
  t.is(captures[0]?.reference, 'made-1');
  t.deepEqual(await outcomes(), ['CaptureAccepted']);
  await react();
  t.is(captures.length, 3);
});

test('A payment that the service did not make, and an approval that came before, are not captured', async (t) => {
  const { approve, react, captures } = await givenApproved();
  await approve('made-elsewhere', 'approval-2');
  await approve('made-1', 'approval-1');
  await react();
  await approve('made-1', 'approval-3');
  await react();
  t.is(captures.length, 1);
});

test('An approval is applied once, and one of a shop’s payment is not', async (t) => {
  const { stores, receive, react, captures } = await givenApproved();
  const own = await receive('made-2', { isMade: true });
  const ofShop = await receive('made-elsewhere');

  for (const { apply } of [own, own, ofShop]) await apply(givenContext(900, stores.clock.now()));

  const approved = await stores.eventStore.read(`checkout-${orderId}`, { limit: 100 });
  t.is(approved.filter(({ type }) => type === 'PaymentApproved').length, 2);
  await react();
  t.like(captures, [{ reference: 'made-1' }]);
});

test('After a refusal the next approval is captured under another key', async (t) => {
  const { approve, react, captures, failures, outcomes } = await givenApproved();
  failures.push(new PlatformError('refused', 'INSTRUMENT_DECLINED'));
  await react();
  await react();
  t.deepEqual(await outcomes(), ['CaptureRefused']);
  await approve('made-1', 'approval-2');
  await react();
  t.deepEqual(await outcomes(), ['CaptureRefused', 'CaptureAccepted']);
  t.is(new Set(pluck(captures, 'idempotencyKey')).size, 2);
});

test('A capture without an answer, and one without credentials, stays open', async (t) => {
  const { react, withoutCredentials, failures, outcomes } = await givenApproved();
  failures.push(new PlatformError('outcome_unknown', 'connection_timeout'));
  await t.throwsAsync(react(), { instanceOf: PlatformError, code: 'connection_timeout' });
  await t.throwsAsync(withoutCredentials().react(), { instanceOf: PlatformError, code: 'no_credentials' });
  t.deepEqual(await outcomes(), []);
  await react();
  t.deepEqual(await outcomes(), ['CaptureAccepted']);
});

const paid = { kind: 'paid', amount: 999, currency: 'USD' } as const;
type Given = Awaited<ReturnType<typeof givenApproved>>;
const over: Readonly<Record<string, (given: Given) => unknown>> = {
  'An order that its buyer canceled': ({ tell }) => tell({ type: 'Cancel' }),
  'An order that is paid': ({ report }) => report(paid),
  'An order whose money went back': async ({ report }) => {
    await report(paid);
    await report({ kind: 'refund', refund_id: 'r1', status: 'succeeded', amount: 999, currency: 'USD' });
  },
  'An order in review': ({ report }) => report({ ...paid, amount: 1 }),
  'An order whose time is over': ({ clock }) => clock.advance(orderLifeMs),
};
for (const [title, end] of Object.entries(over)) {
  test(`${title} takes no money`, async (t) => {
    const given = await givenApproved();
    await end(given);
    await given.react();
    t.deepEqual(given.captures, []);
  });
}

test('An order whose buyer or project is gone takes no money', async (t) => {
  for (const gone of [{ isRegistered: false }, { project: projectId }]) {
    const { react, captures } = await givenApproved(gone);
    await react();
    t.deepEqual(captures, []);
  }
});

test('An order whose last payment was declined takes the money of the next approval', async (t) => {
  const { report, react, captures } = await givenApproved();
  await report({ kind: 'failed' });
  await react();
  t.is(captures.length, 1);
});
