import test from 'ava';
import { callbackIdOf, transactionStreamId } from '../../src/commands/payment-ids.js';
import { orderNumber } from '../../src/domain/order/number.js';
import type { OrderEvent } from '../../src/domain/order/events.js';
import { orderAggregate, reportsMax } from '../../src/domain/order/order.js';
import { paymentCallbackAggregate } from '../../src/domain/payment-callback/payment-callback.js';
import type { TransactionEvent } from '../../src/domain/transaction/events.js';
import { isUnparked, parkedMax, transactionAggregate } from '../../src/domain/transaction/transaction.js';
import { StoreUnavailable } from '../../src/event-sourcing/errors.js';
import { type AnyReaction, eventFor } from '../../src/event-sourcing/reaction.js';
import { makeSettlePayments } from '../../src/reactions/settle-payments.js';
import { appendEvents } from '../support/append-events.js';
import { orderId, otherTestId, userId } from '../support/examples/ids.js';
import { given as givenAggregate } from '../support/given.js';
import { givenCommands } from '../support/given-commands.js';
import { givenContext, givenStores } from '../support/given-stores.js';
import { makeTestPaymentProvider, signed, type TestMessage } from '../support/test-payment-provider.js';

const at = new Date('2026-01-02T03:04:05.000Z');
const number = orderNumber(orderId);
const paid = { kind: 'paid', amount: 999, currency: 'USD' } as const;
const dispute = { kind: 'dispute', dispute_id: 'd1', status: 'open' } as const;
const refund = (refund_id: string) =>
  ({ kind: 'refund', refund_id, status: 'succeeded', amount: 1, currency: 'USD' }) as const;

interface Place {
  readonly stream: string;
  readonly type: string;
}

/**
 * An order, and the platform that speaks of it to two processes. `failAt`: the log is away for events of this type in this stream;
 * `beforeAppend`: what happens before the first one.
 */
async function given() {
  let failing: Place | null = null;
  let before: { readonly place: Place; readonly happens: () => Promise<unknown> } | null = null;
  const isAt = (place: Place | undefined | null, stream: string, type: string | undefined): boolean =>
    place?.stream === stream && place.type === type;
  const stores = await givenStores({
    wrap: (store) => ({
      ...store,
      append: async (stream, expected, events, options) => {
        const type = events[0]?.type;
        if (isAt(failing, stream, type)) throw new StoreUnavailable('away');
        if (isAt(before?.place, stream, type)) {
          const happens = before?.happens;
          before = null;
          await happens?.();
        }
        return store.append(stream, expected, events, options);
      },
    }),
  });
  const paymentProviders = new Map([['standard', makeTestPaymentProvider()]] as const);
  const world = givenCommands(stores, { paymentProviders });
  const otherWorld = givenCommands(stores.anotherProcess(), { paymentProviders });
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
    failAt: (next: Place | null) => {
      failing = next;
    },
    beforeAppend: (place: Place, happens: () => Promise<unknown>) => {
      before = { place, happens };
    },
    idOf,
    tell: (key: string, told: TestMessage['told'], to: 'one' | 'other' = 'one') => {
      const callback = { method: 'POST', query: '', receivedAt: at, ...signed({ key, told }) } as const;
      const { receivePaymentCallback } = to === 'one' ? world : otherWorld;
      return receivePaymentCallback({ name: 'standard', callback }, context());
    },
    dismiss: (key: string) =>
      world.resolvePayment({ id: idOf(key), action: 'dismiss', orderId: null, note: 'why' }, context()),
    apply: (key: string) =>
      world.resolvePayment({ id: idOf(key), action: 'apply', orderId, note: 'why' }, context()),
    end: async (key: string) => {
      const { state } = await handler.load(paymentCallbackAggregate, idOf(key));
      return state.status === 'received' ? (state.disposition ?? state.held ?? 'owed') : state.status;
    },
    react: async (from = 0) => {
      const { events } = await eventStore.readAll({ after: null, limit: 1_000 });
      const reaction: AnyReaction = makeSettlePayments(world);
      for (const stored of events.slice(from)) {
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
  failAt({ type: 'PaymentCaptured', stream: `order-${orderId}` });
  await tell('linking', [
    { transaction: 't1', fact: refund('r1') },
    { number, transaction: 't1', fact: paid },
  ]);
  t.is(await end('linking'), 'owed');
  // When the first comes once more, and its process stops right before it is settled
  failAt({ type: 'PaymentCallbackSettled', stream: `payment-${idOf('waiting')}` });
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

test('a callback stays owed while those that it has set free are not settled', async (t) => {
  const { failAt, idOf, tell, end, react } = await given();
  await tell('waiting', [{ transaction: 't1', fact: dispute }]);
  failAt({ type: 'PaymentCallbackSettled', stream: `payment-${idOf('waiting')}` });
  await tell('linking', [{ number, transaction: 't1', fact: paid }]);
  t.is(await end('linking'), 'owed');
  failAt(null);
  await react();
  t.is(await end('linking'), 'applied');
  t.is(await end('waiting'), 'applied');
});

test('what is found to wait while others make its link is settled by them, and does not wait any more', async (t) => {
  const { beforeAppend, idOf, tell, end } = await given();
  // Given one that waits for a link
  await tell('waiting', [{ transaction: 't1', fact: dispute }]);
  // When another process makes it, right before one more is said to wait for it too
  beforeAppend({ stream: `payment-${idOf('late')}`, type: 'PaymentCallbackHeld' }, () =>
    tell('linking', [{ number, transaction: 't1', fact: paid }], 'other'),
  );
  await tell('late', [{ transaction: 't1', fact: refund('r1') }]);
  // Then all are settled
  for (const key of ['waiting', 'late', 'linking']) t.is(await end(key), 'applied', key);
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
    const data = { ...{ callback: `standard-c${n}`, transaction_id: 't1', amount: 1, currency: 'USD' } };
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

test('so much waits for one transaction and no more; what is beyond is held with its reason, and settled when it comes again', async (t) => {
  const { handler, tell, end, apply } = await given();
  // Given a transaction for which as much waits as may
  const parked = Array.from({ length: parkedMax }, (_, n) => {
    return { type: 'CallbackParked', data: { callback: callbackIdOf('standard', `p${n}`) } } as const;
  });
  const transaction = { aggregate: transactionAggregate, id: transactionStreamId('standard', 't1') };
  await appendEvents(handler, transaction, parked, at);
  // When more comes, it is held, and nothing more is parked
  await tell('late', [{ transaction: 't1', fact: dispute }]);
  t.is(await end('late'), 'transaction_full');
  await tell('later', [{ number: orderNumber(otherTestId), transaction: 't1', fact: paid }]);
  t.is(await end('later'), 'transaction_full');
  t.is((await handler.load(transactionAggregate, transaction.id)).state.parked.size, parkedMax);
  // Then an operator may take it for an order's, and the transaction is that order's
  await apply('later');
  t.is(await end('later'), 'applied');
  // And what came before that is settled when it comes again
  await tell('late', [{ transaction: 't1', fact: dispute }]);
  t.is(await end('late'), 'applied');
});

test('a decision that was cut off is brought about by the reaction, from the decision alone', async (t) => {
  const { failAt, idOf, tell, end, dismiss, react, ids } = await given();
  // Given one that waits, of which the reaction has taken notice, and a decision on it that was cut off
  await tell('held', [{ transaction: 't1', fact: dispute }]);
  const before = (await ids()).length;
  failAt({ type: 'PaymentCallbackSettled', stream: `payment-${idOf('held')}` });
  await t.throwsAsync(dismiss('held'), { instanceOf: StoreUnavailable });
  failAt(null);
  t.not(await end('held'), 'ignored');
  // When the reaction comes to what happened since
  await react(before);
  // Then it is settled
  t.is(await end('held'), 'ignored');
});

test('a decision makes no room for others on its transaction, and is possible whatever waits there', (t) => {
  const callbackOf = (n: number): string => callbackIdOf('standard', `p${n}`);
  const parked = Array.from({ length: parkedMax }, (_, n) => {
    return { type: 'CallbackParked', data: { callback: callbackOf(n) } } as const;
  });
  // Given as much as may wait, of which some was decided on, as was what never found room
  const decided = [0, 1, parkedMax, parkedMax + 1].map((n) => {
    return { type: 'CallbackUnparked', data: { callback: callbackOf(n) } } as const;
  });
  const transaction = givenAggregate(transactionAggregate, ...parked, ...decided);
  t.is(transaction.state.parked.size, parkedMax - 2);
  // Then nothing new waits, and what was decided on is known
  transaction.when({ type: 'Park', callback: 'new' }).thenRejected(t, 'transaction_full');
  for (const { data } of decided) {
    t.true(isUnparked(transaction.state, data.callback));
    transaction.when({ type: 'Park', callback: data.callback }).thenNothing(t);
  }
  t.false(isUnparked(transaction.state, callbackOf(2)));
  // and more can be decided on.
  for (const callback of [callbackOf(2), 'new']) {
    transaction.when({ type: 'Unpark', callback }).then(t, { type: 'CallbackUnparked', data: { callback } });
  }
});

test('nothing is parked on a transaction that belongs to an order, or taken off it', (t) => {
  const linked: TransactionEvent = { type: 'TransactionLinked', data: { order_id: orderId } };
  for (const type of ['Park', 'Unpark'] as const) {
    givenAggregate(transactionAggregate, linked)
      .when({ type, callback: 'c1' })
      .thenRejected(t, 'transaction_linked');
  }
});
