import type { PassOnCallback } from '../commands/orders/pass-on-callback.js';
import type { SettlePayment } from '../commands/orders/settle-payment.js';
import { paymentCallbackCategory, paymentCallbackCodec } from '../domain/payment-callback/events.js';
import { transactionCategory, transactionCodec } from '../domain/transaction/events.js';
import type { AnyReaction } from '../event-sourcing/reacting/reaction.js';
import { streamIdOf } from '../event-sourcing/ports/stream-name.js';

/**
 * Tells orders what their requests did not tell them: of every report, and of the reports that an event releases. The
 * process that served the request has both streams cached, so it reads nothing. Otherwise the commands of both reactions
 * read what is due, and append nothing where nothing is.
 */
export function makeSettlePayments({
  settlePayment,
}: {
  readonly settlePayment: Pick<SettlePayment, 'isTold' | 'tell'>;
}): AnyReaction {
  return {
    name: 'tell-payment-reports',
    category: transactionCategory,
    codec: transactionCodec,
    types: ['PaymentReported', 'PaymentReportResolved'],
    asks: async (event) =>
      (await settlePayment.isTold(streamIdOf(event), Number(event.revision))) ? 'no' : 'yes',
    conclude: async (event, context) => {
      await settlePayment.tell(streamIdOf(event), Number(event.revision), context);
    },
  };
}

/** Passes on what the request of a callback did not pass on, and what an earlier release did not settle. */
export function makePassOnCallbacks({
  passOnCallback,
}: {
  readonly passOnCallback: PassOnCallback;
}): AnyReaction {
  return {
    name: 'pass-on-payment-callbacks',
    category: paymentCallbackCategory,
    codec: paymentCallbackCodec,
    types: ['PaymentCallbackReceived'],
    asks: () => Promise.resolve('yes'),
    conclude: async (event, context) => {
      await passOnCallback(streamIdOf(event), context);
    },
  };
}
