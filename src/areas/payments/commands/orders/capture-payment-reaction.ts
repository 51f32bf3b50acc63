import { checkoutCategory, checkoutCodec, type CheckoutEvent } from '../../domain/checkout/events.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import type { CaptureOutcome, CapturePayment } from './capture-payment.js';

type PaymentApproved = Extract<CheckoutEvent, { type: 'PaymentApproved' }>;

/** Captures each approved payment. While the platform is away, it is asked again until the order expires. */
export function makeCaptureApprovedPayments({
  capturePayment,
}: {
  readonly capturePayment: CapturePayment;
}): Reaction<PaymentApproved, CaptureOutcome> {
  return {
    name: 'capture-approved-payments',
    category: checkoutCategory,
    codec: checkoutCodec,
    types: ['PaymentApproved'],
    asks: async (event) =>
      (await capturePayment.isDue(streamIdOf(event), event.data.approval)) ? 'yes' : 'no',
    perform: ({ data }) => capturePayment.capture(data),
    conclude: (event, context, outcome) => {
      const { approval } = event.data;
      return capturePayment.finish({ orderId: streamIdOf(event), approval }, outcome, context);
    },
  };
}
