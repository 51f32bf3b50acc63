import { toStripeAmount } from '../money.js';
import { at, textAt, timeAt } from '../calls/parsing.js';
import type { Money } from '../../domain/fact.js';
import { type PaymentMaker, type PaymentRequest, PlatformError } from '../payment-maker.js';
import { httpsUrlOf, unreadableReply } from '../calls/platform-calls.js';
import type { StripeClient, StripeForm } from './stripe-client.js';

/**
 * A session lives 30 minutes to 24 hours ("Create a Checkout Session", expires_at). The clocks of Stripe and of this
 * service may differ by the margin.
 */
const shortestMs = 30 * 60_000;
const marginMs = 60_000;

/** Makes payments as Checkout Sessions, and refunds of their payment intents. */
export function makeStripeMaker(client: StripeClient, now: () => Date): PaymentMaker {
  return {
    makePayment: async (request) => {
      const expiresAt = new Date(request.expiresAt.getTime() - marginMs);
      if (expiresAt.getTime() - now().getTime() < shortestMs + marginMs)
        throw new PlatformError('refused', 'order_expires_too_soon');
      const { idempotencyKey } = request;
      const form = sessionOf(request, expiresAt);
      const session = await client({ method: 'POST', path: '/v1/checkout/sessions', form, idempotencyKey });
      const until = timeAt(session, 'expires_at');
      return {
        kind: 'redirect',
        url: httpsUrlOf(textAt(session, 'url', 4_096)),
        reference: textAt(session, 'id') ?? unreadableReply(),
        expiresAt: until === null ? expiresAt : new Date(until),
      };
    },
    refund: async ({ transactionId, amount, orderNumber, idempotencyKey }) => {
      const form = [
        ['payment_intent', transactionId],
        ['amount', unitsOf(amount)],
        ['metadata[order_id]', orderNumber],
      ] as const;
      const made = await client({ method: 'POST', path: '/v1/refunds', form, idempotencyKey });
      const status = at(made, 'status');
      // A refund that fails at once is refused.
      if (status === 'failed' || status === 'canceled')
        throw new PlatformError('refused', `refund_${status}`);
      return textAt(made, 'id') ?? unreadableReply();
    },
  };
}

function sessionOf(
  { orderNumber, price, title, returnUrl, callbackUrl }: PaymentRequest,
  expiresAt: Date,
): StripeForm {
  const item = 'line_items[0]';
  const back = returnUrl ?? new URL('/', callbackUrl).href;
  return [
    ['mode', 'payment'],
    ['client_reference_id', orderNumber],
    ['metadata[order_id]', orderNumber],
    [`${item}[quantity]`, '1'],
    [`${item}[price_data][currency]`, price.currency.toLowerCase()],
    [`${item}[price_data][unit_amount]`, unitsOf(price)],
    [`${item}[price_data][product_data][name]`, title],
    ['success_url', back],
    ['cancel_url', back],
    ['expires_at', String(Math.floor(expiresAt.getTime() / 1_000))],
  ];
}

/** Writes an amount in Stripe's units. @throws PlatformError refused */
function unitsOf(money: Money): string {
  const units = toStripeAmount(money);
  if (units === null) throw new PlatformError('refused', 'amount_not_payable');
  return String(units);
}
