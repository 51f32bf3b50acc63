import type { SettlePayment } from '../commands/settle-payment.js';
import { paymentCallbackCodec, type PaymentCallbackEvent } from '../domain/payment-callback/events.js';
import { paymentCallbackCategory } from '../domain/payment-callback/stream.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type PaymentCallbackReceived = Extract<PaymentCallbackEvent, { type: 'PaymentCallbackReceived' }>;

/** Settles every callback that was accepted and that its own request has not settled. */
export function makeSettlePayments({
  settlePayment,
}: {
  readonly settlePayment: SettlePayment;
}): Reaction<PaymentCallbackReceived> {
  return {
    name: 'settle-payments',
    category: paymentCallbackCategory,
    codec: paymentCallbackCodec,
    types: ['PaymentCallbackReceived'],
    asks: async (event) => ((await settlePayment.isOwed(streamIdOf(event))) ? 'yes' : 'no'),
    conclude: (event, context) => settlePayment.settle(streamIdOf(event), context),
  };
}
