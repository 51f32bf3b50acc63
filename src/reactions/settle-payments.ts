import type { SettlePayment } from '../commands/settle-payment.js';
import { paymentCallbackCodec, type PaymentCallbackEvent } from '../domain/payment-callback/events.js';
import { paymentCallbackCategory } from '../domain/payment-callback/stream.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type Owing = Extract<PaymentCallbackEvent, { type: 'PaymentCallbackReceived' | 'PaymentCallbackResolved' }>;

/** Settles every callback that was accepted, or decided on, and that the request which did so has not settled. */
export function makeSettlePayments({
  settlePayment,
}: {
  readonly settlePayment: SettlePayment;
}): Reaction<Owing> {
  return {
    name: 'settle-payments',
    category: paymentCallbackCategory,
    codec: paymentCallbackCodec,
    types: ['PaymentCallbackReceived', 'PaymentCallbackResolved'],
    asks: async (event) => ((await settlePayment.isOwed(streamIdOf(event))) ? 'yes' : 'no'),
    conclude: (event, context) => settlePayment.settle(streamIdOf(event), context, { pace: 'written' }),
  };
}
