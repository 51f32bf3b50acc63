import test from 'ava';
import { callbackIdOf } from '../../src/commands/payment-ids.js';
import { orderNumber } from '../../src/domain/order/number.js';
import type { OrderEvent } from '../../src/domain/order/events.js';
import { orderAggregate, reportsMax } from '../../src/domain/order/order.js';
import { paymentCallbackAggregate } from '../../src/domain/payment-callback/payment-callback.js';
import { StoreUnavailable } from '../../src/event-sourcing/errors.js';
import { type AnyReaction, eventFor } from '../../src/event-sourcing/reaction.js';
import { makeSettlePayments } from '../../src/reactions/settle-payments.js';
import { appendEvents } from '../support/append-events.js';
import { orderId, userId } from '../support/examples/ids.js';
import { givenCommands } from '../support/given-commands.js';
import { givenContext, givenStores } from '../support/given-stores.js';
import { makeTestPaymentProvider, signed, type TestMessage } from '../support/test-payment-provider.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const number = orderNumber(orderId);
const paid = { kind: 'paid', amount: 999, currency: 'USD' } as const;
const dispute = { kind: 'dispute', dispute_id: 'd1', status: 'open' } as const;
const refund = (refund_id: string) =>
  ({ kind: 'refund', refund_id, status: 'succeeded', amount: 1, currency: 'USD' }) as const;

/** An order, and the platform that speaks of it. `failAt`: the log is away for the next event of this type in this stream. */
async function given() {
  let failing: { readonly type: string; readonly stream: string; readonly isDone: boolean } | null = null;
  const stores = await givenStores({
    wrap: (store) => ({
      ...store,
      append: async (stream, expected, events, options) => {
        if (stream !== failing?.stream || events[0]?.type !== failing.type) {
          return store.append(stream, expected, events, options);
        }
        if (failing.isDone) await store.append(stream, expected, events, options);
        throw new StoreUnavailable('away');
      },
    }),
  });
  const world = givenCommands(stores, {
    paymentProviders: new Map([['standard', makeTestPaymentProvider()]] as const),
  });
  const { handler, eventStore } = stores;
  let commands = 0;
  const context = () => givenContext((commands += 1), at);
  await handler.handle(
    { aggregate: orderAggregate, id: orderId },
    {
      ...({ type: 'Place', userId, projectId: null, planId: 'p', provider: 'standard' } as const),
      ...{ grant: { capacity_bytes: 5 }, amount: 999, currency: 'USD', expiresAt: at },
    },
    context(),
  );
  const idOf = (key: string): string => callbackIdOf('standard', key);
  return {
    handler,
    failAt: (next: typeof failing) => {
      failing = next;
    },
    idOf,
    tell: (key: string, told: TestMessage['told']) => {
      const callback = { method: 'POST', query: '', receivedAt: at, ...signed({ key, told }) } as const;
      return world.receivePaymentCallback({ name: 'standard', callback }, context());
    },
    dismiss: (key: string) =>
      world.resolvePayment({ id: idOf(key), action: 'dismiss', orderId: null, note: 'why' }, context()),
    end: async (key: string) => {
      const { state } = await handler.load(paymentCallbackAggregate, idOf(key));
      return state.status === 'received' ? (state.disposition ?? state.held ?? 'owed') : state.status;
    },
    react: async () => {
      const { events } = await eventStore.readAll({ after: null, limit: 1_000 });
      const reaction: AnyReaction = makeSettlePayments(world);
      for (const stored of events) {
        const event = eventFor(reaction, stored);
        if (event === null) continue;
        if ((await reaction.asks(event)) === 'yes') await reaction.conclude(event, context(), undefined);
      }
    },
    ids: async () => (await eventStore.readAll({ after: null, limit: 1_000 })).events.map(({ id }) => id),
  };
}

test('a callback that waits for several payments is settled by the last, also where one callback names them all', async (t) => {
  const { tell, end, ids } = await given();
  // Given one that tells of three payments, by their transactions only
  await tell('waiting', [
    { transaction: 't1', fact: dispute },
    { number: 'NOT-OURS', transaction: 't2', fact: refund('r1') },
    { transaction: 't3', fact: refund('r2') },
  ]);
  t.is(await end('waiting'), 'unlinked_transaction');
  // When another links two of them, one after the other
  await tell('first', [
    { number, transaction: 't1', fact: paid },
    { number, transaction: 't2', fact: paid },
  ]);
  // Then it waits for the third, for the same reason as in the beginning, and in an event of its own
  t.is(await end('first'), 'applied');
  t.is(await end('waiting'), 'unlinked_transaction');
  // When that comes too
  await tell('second', [{ number, transaction: 't3', fact: paid }]);
  t.is(await end('waiting'), 'applied');
  const all = await ids();
  t.is(new Set(all).size, all.length);
});

test('a callback stays owed while one that its link has set free is not settled, whoever settles them', async (t) => {
  const { failAt, idOf, tell, end, react } = await given();
  // Given one that waits for a link
  await tell('waiting', [{ transaction: 't1', fact: dispute }]);
  // And one that has made it, after waiting for itself, but no more than that
  failAt({ type: 'PaymentCaptured', stream: `order-${orderId}`, isDone: false });
  await tell('linking', [
    { transaction: 't1', fact: refund('r1') },
    { number, transaction: 't1', fact: paid },
  ]);
  t.is(await end('linking'), 'owed');
  // When the first comes once more, and its process stops right before it is settled
  failAt({ type: 'PaymentCallbackSettled', stream: `payment-${idOf('waiting')}`, isDone: false });
  await t.throwsAsync(tell('waiting', [{ transaction: 't1', fact: dispute }]), {
    instanceOf: StoreUnavailable,
  });
  t.is(await end('waiting'), 'unlinked_transaction');
  // Then the reaction, which does not look at what is held, settles both
  failAt(null);
  await react();
  t.is(await end('linking'), 'applied');
  t.is(await end('waiting'), 'applied');
});

test('of a callback that tells several things the one that matters most is its disposition', async (t) => {
  const { tell, end } = await given();
  const [nothing, known] = [
    { fact: { kind: 'nothing' } } as const,
    { number, transaction: 't1', fact: paid },
  ];
  await tell('first', [nothing, known]);
  t.is(await end('first'), 'applied');
  await tell('again', [nothing, known]);
  t.is(await end('again'), 'already_applied');
  await tell('more', [nothing, known, { number, transaction: 't2', fact: { ...paid, amount: 1 } }]);
  t.is(await end('more'), 'mismatch');
  await tell('none', [nothing]);
  t.is(await end('none'), 'ignored');
});

test('what comes for an order that keeps no more waits for people, with its reason', async (t) => {
  const { handler, tell, end, dismiss } = await given();
  // Given an order that has heard as much as it keeps
  const events = Array.from({ length: reportsMax }, (_, n): OrderEvent => {
    const data = { ...{ callback: `c${n}`, transaction_id: 't1', amount: 1, currency: 'USD' } };
    const refund = { refund_id: `r${n}`, status: 'pending' as const };
    return { type: 'RefundReported', data: { ...data, refund, at: at.toISOString() } };
  });
  await appendEvents(handler, { aggregate: orderAggregate, id: orderId }, events, at);
  // When more comes, the first is a mismatch, and what comes while that waits is held
  await tell('first', [{ number, transaction: 't1', fact: paid }]);
  t.is(await end('first'), 'mismatch');
  await tell('second', [{ number, transaction: 't2', fact: paid }]);
  t.is(await end('second'), 'order_full');
  // Then it can be dismissed
  await dismiss('second');
  t.is(await end('second'), 'ignored');
});
