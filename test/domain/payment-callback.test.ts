import test from 'ava';
import type { PaymentCallbackEvent } from '../../src/domain/payment-callback/events.js';
import { paymentCallbackAggregate } from '../../src/domain/payment-callback/payment-callback.js';
import { transactionAggregate } from '../../src/domain/transaction/transaction.js';
import { digest, orderId, otherDigest, testId } from '../support/examples/ids.js';
import { given } from '../support/given.js';

const callback = {
  provider: 'stripe' as const,
  fields_digest: digest,
  is_ours: true,
  notifications: [],
  received_at: '2026-01-02T03:04:05.000Z',
};
const receive = { type: 'Receive', callback } as const;
const received: PaymentCallbackEvent = { type: 'PaymentCallbackReceived', data: callback };
const settle = { type: 'Settle', disposition: 'applied', orderId } as const;
const settled: PaymentCallbackEvent = {
  type: 'PaymentCallbackSettled',
  data: { disposition: 'applied', order_id: orderId },
};

test('A callback is accepted once, and its repetition is a duplicate', (t) => {
  given(paymentCallbackAggregate).when(receive).then(t, received);
});

test('Other content under the same name is told once, and never applied', (t) => {
  const other = { type: 'Receive', callback: { ...callback, fields_digest: otherDigest } } as const;
  given(paymentCallbackAggregate, received)
    .when(other)
    .then(t, { type: 'PaymentCallbackConflicted', data: { fields_digest: otherDigest } });
});

test('A callback is held with its reason until it is settled, with exactly one disposition', (t) => {
  const held: PaymentCallbackEvent = { type: 'PaymentCallbackHeld', data: { reason: 'unknown_order' } };
  given(paymentCallbackAggregate, received).when({ type: 'Hold', reason: 'unknown_order' }).then(t, held);
  given(paymentCallbackAggregate, received, held).when(settle).then(t, settled);
  const done = given(paymentCallbackAggregate, received, held, settled);
  done.when({ type: 'Settle', disposition: 'mismatch', orderId: null }).thenNothing(t);
  done.when({ type: 'Hold', reason: 'unknown_order' }).thenNothing(t);
});

test('What was never received can be neither held nor settled', (t) => {
  given(paymentCallbackAggregate).when(settle).thenRejected(t, 'payment_callback_not_found');
});

test('A transaction pays one order, and what was parked on it waits for that', (t) => {
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
