import type { PassOnCallback } from './pass-on-callback.js';
import type { SettlePayment } from './settle-payment.js';
import { paymentCallbackCategory, paymentCallbackCodec } from '../../domain/payment-callback/events.js';
import { transactionCategory, transactionCodec } from '../../domain/transaction/events.js';
import type { AnyReaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

/**
 * Do what the requests of callbacks did not do. The first passes on what an inbox holds. The second tells orders of every report, and of the reports that an event releases. The process that served
 * the request has its streams cached, so the second reads nothing there. Otherwise the commands of both read what is due,
 * and append nothing where nothing is.
 */
export function makeSettlePayments({
  settlePayment,
  passOnCallback,
}: {
  readonly settlePayment: Pick<SettlePayment, 'isTold' | 'tell'>;
  readonly passOnCallback: PassOnCallback;
}): readonly AnyReaction[] {
  return [
    {
      name: 'pass-on-payment-callbacks',
      category: paymentCallbackCategory,
      codec: paymentCallbackCodec,
      types: ['PaymentCallbackReceived'],
      asks: () => Promise.resolve('yes'),
      conclude: async (event, context) => {
        await passOnCallback(streamIdOf(event), context);
      },
    },
    {
      name: 'tell-payment-reports',
      category: transactionCategory,
      codec: transactionCodec,
      types: ['PaymentReported', 'PaymentReportResolved'],
      asks: async (event) =>
        (await settlePayment.isTold(streamIdOf(event), Number(event.revision))) ? 'no' : 'yes',
      conclude: async (event, context) => {
        await settlePayment.tell(streamIdOf(event), Number(event.revision), context);
      },
    },
  ];
}
