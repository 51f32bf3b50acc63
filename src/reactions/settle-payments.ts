import type { SettlePayment } from '../commands/orders/settle-payment.js';
import {
  paymentCallbackCodec,
  type PaymentCallbackEvent,
  paymentCallbackCategory,
} from '../domain/payment-callback/events.js';
import type { Reaction } from '../event-sourcing/reacting/reaction.js';
import { streamIdOf } from '../event-sourcing/ports/stream-name.js';

type Owing = Extract<PaymentCallbackEvent, { type: 'PaymentCallbackReceived' | 'PaymentCallbackResolved' }>;

/** Settles every received or resolved callback that its request did not settle. */
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
    conclude: (event, context) => settlePayment.settle(streamIdOf(event), context, 'written'),
  };
}
