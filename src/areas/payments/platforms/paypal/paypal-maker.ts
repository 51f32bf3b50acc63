import { toPayPalValue } from '../money.js';
import { type Fields, at, listAt, textAt } from '../calls/parsing.js';
import type { Money } from '../../domain/fact.js';
import { type PaymentMaker, type PaymentRequest, PlatformError } from '../payment-maker.js';
import type { PayPalClient } from './paypal-client.js';
import { httpsUrlOf, unreadableReply } from '../calls/platform-calls.js';

/** A buyer can approve an order for 3 hours after it was made. */
const approvableMs = 3 * 3_600_000;
/** The link for the buyer: the second one where the request names no way to pay ("HATEOAS links"). */
const linkNames: readonly unknown[] = ['payer-action', 'approve'];

/**
 * Makes payments as orders of PayPal's Orders API v2 with the intent CAPTURE. The buyer approves the order, and PayPal
 * takes the money when the service captures it. The number is `invoice_id` too: PayPal refuses a second capture with a
 * known one.
 */
export function makePayPalMaker(deps: {
  readonly client: PayPalClient;
  readonly now: () => Date;
}): PaymentMaker {
  const { client, now } = deps;
  return {
    makePayment: async (request) => {
      const endsAtMs = Math.min(request.expiresAt.getTime(), now().getTime() + approvableMs);
      const order = await client({
        ...{ method: 'POST', path: '/v2/checkout/orders', requestId: request.idempotencyKey },
        json: orderOf(request),
      });
      const link = listAt(order, 'links').find((one) => linkNames.includes(at(one, 'rel')));
      return {
        kind: 'redirect',
        url: httpsUrlOf(textAt(link, 'href', 4_096)),
        reference: textAt(order, 'id') ?? unreadableReply(),
        expiresAt: new Date(endsAtMs),
      };
    },
    capture: async ({ reference, idempotencyKey }) => {
      const path = `/v2/checkout/orders/${encodeURIComponent(reference)}/capture`;
      try {
        checkCaptured(await client({ method: 'POST', path, json: {}, requestId: idempotencyKey }));
      } catch (error) {
        if (!(error instanceof PlatformError)) throw error;
        if (error.code === 'ORDER_ALREADY_CAPTURED') return;
        // The callback may overtake the approval inside PayPal.
        throw error.code === 'ORDER_NOT_APPROVED' ? new PlatformError('unavailable', error.code) : error;
      }
    },
    refund: async ({ transactionId, amount, idempotencyKey }) => {
      const made = await client({
        method: 'POST',
        path: `/v2/payments/captures/${encodeURIComponent(transactionId)}/refund`,
        json: { amount: amountOf(amount) },
        requestId: idempotencyKey,
      });
      const refundId = textAt(made, 'id') ?? unreadableReply();
      const status = textAt(made, 'status');
      if (status === 'FAILED' || status === 'CANCELLED')
        throw new PlatformError('refused', `refund_${status}`);
      return refundId;
    },
  };
}

function orderOf({ orderNumber, price, title, returnUrl, callbackUrl }: PaymentRequest) {
  const back = returnUrl ?? new URL('/', callbackUrl).href;
  return {
    intent: 'CAPTURE',
    purchase_units: [
      { amount: amountOf(price), description: title, custom_id: orderNumber, invoice_id: orderNumber },
    ],
    payment_source: {
      paypal: {
        experience_context: {
          shipping_preference: 'NO_SHIPPING',
          return_url: back,
          cancel_url: back,
          user_action: 'PAY_NOW',
        },
      },
    },
  };
}

/** The state of the money is reported by callbacks; a declined capture takes none. @throws PlatformError */
function checkCaptured(order: Fields): void {
  const [unit] = listAt(order, 'purchase_units');
  const captured = textAt(listAt(at(unit, 'payments'), 'captures')[0], 'status');
  if (captured === 'DECLINED' || captured === 'FAILED') throw new PlatformError('refused', captured);
  const status = textAt(order, 'status');
  // The buyer has another step to do, after which PayPal reports another approval.
  if (status === 'PAYER_ACTION_REQUIRED') throw new PlatformError('refused', status);
  if (status !== 'COMPLETED') unreadableReply();
}

/** @throws PlatformError refused */
function amountOf(money: Money) {
  const value = toPayPalValue(money);
  if (value === null) throw new PlatformError('refused', 'amount_not_payable');
  return { currency_code: money.currency, value };
}
