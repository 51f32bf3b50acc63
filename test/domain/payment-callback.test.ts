import test from 'ava';
import type { PaymentCallbackEvent } from '../../src/domain/payment-callback/events.js';
import {
  conflictsMax,
  paymentCallbackAggregate,
} from '../../src/domain/payment-callback/payment-callback.js';
import { transactionAggregate } from '../../src/domain/transaction/transaction.js';
import { digest, orderId, otherDigest, testId } from '../support/examples/ids.js';
import { sealedExample } from '../support/examples/sealed.js';
import { given } from '../support/given/given.js';

const callback = {
  provider: 'stripe' as const,
  fields_digest: digest,
  is_ours: true,
  notifications: [],
  received_at: '2026-01-02T03:04:05.000Z',
};
const receive = { type: 'Receive', callback } as const;
const received: PaymentCallbackEvent = { type: 'PaymentCallbackReceived', data: callback };
const note = { note: sealedExample('why'), note_of: null, note_digest: digest };
const settle = { type: 'Settle', disposition: 'applied', orderId } as const;
const settled: PaymentCallbackEvent = {
  type: 'PaymentCallbackSettled',
  data: { disposition: 'applied', order_id: orderId },
};

test('A callback is accepted once, and a repetition is a duplicate', (t) => {
  given(paymentCallbackAggregate).when(receive).then(t, received);
});

test('Other content under the same key is recorded once and never applied', (t) => {
  const other = { type: 'Receive', callback: { ...callback, fields_digest: otherDigest } } as const;
  given(paymentCallbackAggregate, received)
    .when(other)
    .then(t, { type: 'PaymentCallbackConflicted', data: { fields_digest: otherDigest } });
});

test('A callback records at most 10 conflicts, because many contents can match one CRC-32', (t) => {
  const conflicts = Array.from({ length: conflictsMax }, (_, n): PaymentCallbackEvent => {
    return { type: 'PaymentCallbackConflicted', data: { fields_digest: String(n).padStart(64, '0') } };
  });
  const another = { type: 'Receive', callback: { ...callback, fields_digest: otherDigest } } as const;
  given(paymentCallbackAggregate, received, ...conflicts.slice(1))
    .when(another)
    .then(t, { type: 'PaymentCallbackConflicted', data: { fields_digest: otherDigest } });
  given(paymentCallbackAggregate, received, ...conflicts)
    .when(another)
    .thenNothing(t);
});

test('A callback is held with its reason until it is settled, with exactly one disposition', (t) => {
  const held: PaymentCallbackEvent = { type: 'PaymentCallbackHeld', data: { reason: 'unknown_order' } };
  given(paymentCallbackAggregate, received).when({ type: 'Hold', reason: 'unknown_order' }).then(t, held);
  given(paymentCallbackAggregate, received, held).when(settle).then(t, settled);
  const done = given(paymentCallbackAggregate, received, held, settled);
  done.when({ type: 'Settle', disposition: 'mismatch', orderId: null }).thenNothing(t);
  done.when({ type: 'Hold', reason: 'unknown_order' }).thenNothing(t);
});

test('A held callback is decided on once and settled as decided', (t) => {
  const held: PaymentCallbackEvent = { type: 'PaymentCallbackHeld', data: { reason: 'unknown_order' } };
  const apply = { type: 'Resolve', decision: { action: 'apply', orderId }, note } as const;
  const dismiss = { type: 'Resolve', decision: { action: 'dismiss', orderId: null }, note } as const;
  const applied: PaymentCallbackEvent = {
    type: 'PaymentCallbackResolved',
    data: { action: 'apply', order_id: orderId, ...note },
  };
  given(paymentCallbackAggregate, received, held).when(apply).then(t, applied);
  for (const history of [[received, held, applied] as const, [received, held, applied, settled] as const]) {
    const decided = given(paymentCallbackAggregate, ...history);
    decided.when(apply).thenNothing(t);
    decided.when(dismiss).thenRejected(t, 'payment_callback_resolved');
    decided
      .when({ ...apply, note: { ...note, note_digest: otherDigest } })
      .thenRejected(t, 'payment_callback_resolved');
    decided.when({ type: 'Hold', reason: 'unlinked_transaction' }).thenNothing(t);
  }
  given(paymentCallbackAggregate, received, held, applied).when(settle).then(t, settled);
});

test('A callback that is not held or not readable is not applied', (t) => {
  const unreadable: PaymentCallbackEvent = { type: 'PaymentCallbackHeld', data: { reason: 'unreadable' } };
  const apply = { type: 'Resolve', decision: { action: 'apply', orderId }, note } as const;
  const dismiss = { type: 'Resolve', decision: { action: 'dismiss', orderId: null }, note } as const;
  given(paymentCallbackAggregate).when(dismiss).thenRejected(t, 'payment_callback_not_found');
  for (const history of [[received] as const, [received, settled] as const]) {
    given(paymentCallbackAggregate, ...history)
      .when(dismiss)
      .thenRejected(t, 'payment_callback_not_held');
  }
  given(paymentCallbackAggregate, received, unreadable)
    .when(apply)
    .thenRejected(t, 'payment_callback_unreadable');
  given(paymentCallbackAggregate, received, unreadable)
    .when(dismiss)
    .then(t, { type: 'PaymentCallbackResolved', data: { action: 'dismiss', order_id: null, ...note } });
});

test('A callback that was not received cannot be settled', (t) => {
  given(paymentCallbackAggregate).when(settle).thenRejected(t, 'payment_callback_not_found');
});

test('A transaction pays one order, and callbacks are parked on it only until then', (t) => {
  const linked = { type: 'TransactionLinked', data: { order_id: orderId } } as const;
  const parked = { type: 'CallbackParked', data: { callback: 'c1' } } as const;
  given(transactionAggregate).when({ type: 'Link', orderId }).then(t, linked);
  given(transactionAggregate).when({ type: 'Park', callback: 'c1' }).then(t, parked);
  given(transactionAggregate, parked).when({ type: 'Link', orderId }).then(t, linked);
  given(transactionAggregate, linked)
    .when({ type: 'Link', orderId: testId })
    .thenRejected(t, 'transaction_of_another_order');
  given(transactionAggregate, linked)
    .when({ type: 'Park', callback: 'c1' })
    .thenRejected(t, 'transaction_linked');
});

test('The first of a link and a decision stands, and a decided callback is no longer parked', (t) => {
  const linked = { type: 'TransactionLinked', data: { order_id: orderId } } as const;
  const parked = { type: 'CallbackParked', data: { callback: 'c1' } } as const;
  const unparked = { type: 'CallbackUnparked', data: { callback: 'c1' } } as const;
  const unpark = { type: 'Unpark', callback: 'c1' } as const;
  given(transactionAggregate, parked).when(unpark).then(t, unparked);
  given(transactionAggregate, parked, linked).when(unpark).thenRejected(t, 'transaction_linked');
  const decided = given(transactionAggregate, parked, unparked, linked);
  decided.when(unpark).thenNothing(t);
  decided.when({ type: 'Park', callback: 'c1' }).thenNothing(t);
  t.deepEqual([...decided.state.parked], []);
});
