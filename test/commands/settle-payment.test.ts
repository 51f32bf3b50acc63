import test from 'ava';
import { callbackIdOf, transactionStreamId } from '../../src/commands/orders/payment-ids.js';
import { orderNumber } from '../../src/domain/order/number.js';
import type { OrderEvent } from '../../src/domain/order/events.js';
import { orderAggregate, reportsMax } from '../../src/domain/order/order.js';
import { paymentCallbackAggregate } from '../../src/domain/payment-callback/payment-callback.js';
import type { TransactionEvent } from '../../src/domain/transaction/events.js';
import { isUnparked, parkedMax, transactionAggregate } from '../../src/domain/transaction/transaction.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import { type AnyReaction, eventFor } from '../../src/event-sourcing/reacting/reaction.js';
import { makeSettlePayments } from '../../src/reactions/settle-payments.js';
import { appendEvents } from '../support/given/append-events.js';
import { orderId, otherTestId, userId } from '../support/examples/ids.js';
import { given as givenAggregate } from '../support/given/given.js';
import { givenCommands } from '../support/given/given-commands.js';
import { givenContext, givenStores } from '../support/given/given-stores.js';
import { makeTestPaymentProvider, signed, type TestMessage } from '../support/fakes/test-payment-provider.js';

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
 * Given an order, and a platform that sends reports on it to two processes. `failAt` makes appends of a type to a
 * stream fail. `beforeAppend` runs a function before the first append of a type to a stream.
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

test('A callback that waits for several payments is settled by the last of them, also when one callback names all', async (t) => {
  const { tell, end, ids } = await given();
  // Given a callback that reports on three payments by their transactions only
  await tell('waiting', [
    { transaction: 't1', fact: dispute },
    { number: 'NOT-OURS', transaction: 't2', fact: refund('r1') },
    { transaction: 't3', fact: refund('r2') },
  ]);
  t.is(await end('waiting'), 'unlinked_transaction');
  // When another callback links two of them, one after the other
  await tell('first', [
    { number, transaction: 't1', fact: paid },
    { number, transaction: 't2', fact: paid },
  ]);
  // Then the first still waits for the third transaction, with the same reason and in another event
  t.is(await end('first'), 'applied');
  t.is(await end('waiting'), 'unlinked_transaction');
  // When that payment comes too
  await tell('second', [{ number, transaction: 't3', fact: paid }]);
  t.is(await end('waiting'), 'applied');
  const all = await ids();
  t.is(new Set(all).size, all.length);
});

test('A callback stays owed while a callback that its link frees is not settled, independent of the process that settles it', async (t) => {
  const { failAt, idOf, tell, end, react } = await given();
  // Given a callback that waits for a link
  await tell('waiting', [{ transaction: 't1', fact: dispute }]);
  // and a callback that has made the link after waiting for itself, but did nothing more
  failAt({ type: 'PaymentCaptured', stream: `order-${orderId}` });
  await tell('linking', [
    { transaction: 't1', fact: refund('r1') },
    { number, transaction: 't1', fact: paid },
  ]);
  t.is(await end('linking'), 'owed');
  // When the first is repeated, and its process stops right before settling it
  failAt({ type: 'PaymentCallbackSettled', stream: `payment-${idOf('waiting')}` });
  await t.throwsAsync(tell('waiting', [{ transaction: 't1', fact: dispute }]), {
    instanceOf: StoreUnavailable,
  });
  t.is(await end('waiting'), 'unlinked_transaction');
  // Then the reaction, which does not read held callbacks, settles both
  failAt(null);
  await react();
  t.is(await end('linking'), 'applied');
  t.is(await end('waiting'), 'applied');
});

test('A callback stays owed while the callbacks that it frees are not settled', async (t) => {
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

test('A callback that is held while another process makes its link is settled by that process', async (t) => {
  const { beforeAppend, idOf, tell, end } = await given();
  // Given a callback that waits for a link
  await tell('waiting', [{ transaction: 't1', fact: dispute }]);
  // When another process makes the link, right before a second callback is recorded as held for it
  beforeAppend({ stream: `payment-${idOf('late')}`, type: 'PaymentCallbackHeld' }, () =>
    tell('linking', [{ number, transaction: 't1', fact: paid }], 'other'),
  );
  await tell('late', [{ transaction: 't1', fact: refund('r1') }]);
  // Then all are settled
  for (const key of ['waiting', 'late', 'linking']) t.is(await end(key), 'applied', key);
});

test('A callback with several notifications gets the most important disposition of them', async (t) => {
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

test('A callback for a full order is held with its reason', async (t) => {
  const { handler, tell, end, dismiss } = await given();
  // Given an order with as many reports as it keeps
  const events = Array.from({ length: reportsMax }, (_, n): OrderEvent => {
    const data = { ...{ callback: `standard-c${n}`, transaction_id: 't1', amount: 1, currency: 'USD' } };
    const refund = { refund_id: `r${n}`, status: 'pending' as const };
    return { type: 'RefundReported', data: { ...data, refund, at: at.toISOString() } };
  });
  await appendEvents(handler, { aggregate: orderAggregate, id: orderId }, events, at);
  // When more reports come, then the first is a mismatch, and the next is held while the mismatch is open
  await tell('first', [{ number, transaction: 't1', fact: paid }]);
  t.is(await end('first'), 'mismatch');
  await tell('second', [{ number, transaction: 't2', fact: paid }]);
  t.is(await end('second'), 'order_full');
  // and an operator can dismiss it
  await dismiss('second');
  t.is(await end('second'), 'ignored');
});

test('A transaction parks a limited number of callbacks, and a callback beyond them is held and settled when it is repeated', async (t) => {
  const { handler, tell, end, apply } = await given();
  // Given a transaction with as many parked callbacks as it keeps
  const parked = Array.from({ length: parkedMax }, (_, n) => {
    return { type: 'CallbackParked', data: { callback: callbackIdOf('standard', `p${n}`) } } as const;
  });
  const transaction = { aggregate: transactionAggregate, id: transactionStreamId('standard', 't1') };
  await appendEvents(handler, transaction, parked, at);
  // When more callbacks come, then they are held and not parked
  await tell('late', [{ transaction: 't1', fact: dispute }]);
  t.is(await end('late'), 'transaction_full');
  await tell('later', [{ number: orderNumber(otherTestId), transaction: 't1', fact: paid }]);
  t.is(await end('later'), 'transaction_full');
  t.is((await handler.load(transactionAggregate, transaction.id)).state.parked.size, parkedMax);
  // and an operator can apply one to an order, which links the transaction
  await apply('later');
  t.is(await end('later'), 'applied');
  // and an earlier one is settled when it is repeated
  await tell('late', [{ transaction: 't1', fact: dispute }]);
  t.is(await end('late'), 'applied');
});

test('The reaction completes a decision that was cut off, from the decision alone', async (t) => {
  const { failAt, idOf, tell, end, dismiss, react, ids } = await given();
  // Given a held callback that the reaction has passed, and a decision on it that was cut off
  await tell('held', [{ transaction: 't1', fact: dispute }]);
  const before = (await ids()).length;
  failAt({ type: 'PaymentCallbackSettled', stream: `payment-${idOf('held')}` });
  await t.throwsAsync(dismiss('held'), { instanceOf: StoreUnavailable });
  failAt(null);
  t.not(await end('held'), 'ignored');
  // When the reaction handles the later events
  await react(before);
  // Then the callback is settled
  t.is(await end('held'), 'ignored');
});

test('A decision makes no room on its transaction, and is possible for any number of parked callbacks', (t) => {
  const callbackOf = (n: number): string => callbackIdOf('standard', `p${n}`);
  const parked = Array.from({ length: parkedMax }, (_, n) => {
    return { type: 'CallbackParked', data: { callback: callbackOf(n) } } as const;
  });
  // Given a full transaction, and decisions on some of its parked callbacks and on some that were not parked
  const decided = [0, 1, parkedMax, parkedMax + 1].map((n) => {
    return { type: 'CallbackUnparked', data: { callback: callbackOf(n) } } as const;
  });
  const transaction = givenAggregate(transactionAggregate, ...parked, ...decided);
  t.is(transaction.state.parked.size, parkedMax - 2);
  // Then no other callback is parked, and the decided ones are known
  transaction.when({ type: 'Park', callback: 'new' }).thenRejected(t, 'transaction_full');
  for (const { data } of decided) {
    t.true(isUnparked(transaction.state, data.callback));
    transaction.when({ type: 'Park', callback: data.callback }).thenNothing(t);
  }
  t.false(isUnparked(transaction.state, callbackOf(2)));
  // and more callbacks can be decided on
  for (const callback of [callbackOf(2), 'new']) {
    transaction.when({ type: 'Unpark', callback }).then(t, { type: 'CallbackUnparked', data: { callback } });
  }
});

test('A callback is neither parked on nor taken off a linked transaction', (t) => {
  const linked: TransactionEvent = { type: 'TransactionLinked', data: { order_id: orderId } };
  for (const type of ['Park', 'Unpark'] as const) {
    givenAggregate(transactionAggregate, linked)
      .when({ type, callback: 'c1' })
      .thenRejected(t, 'transaction_linked');
  }
});
