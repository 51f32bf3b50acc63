import { toStripeAmount } from '../money.js';
import { type Fields, at, textAt, timeAt } from '../calls/parsing.js';
import type { Money } from '../../domain/fact.js';
import {
  type MadePayment,
  type MadeRefund,
  type PaymentMaker,
  type PaymentRequest,
  PlatformError,
  type RefundRequest,
} from '../payment-maker.js';
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
  return { makePayment, refund };

  async function makePayment(request: PaymentRequest): Promise<MadePayment> {
    const expiresAt = new Date(request.expiresAt.getTime() - marginMs);
    if (expiresAt.getTime() - now().getTime() < shortestMs + marginMs)
      throw new PlatformError('refused', 'order_expires_too_soon');
    const session = await post(
      '/v1/checkout/sessions',
      sessionOf(request, expiresAt),
      request.idempotencyKey,
    );
    const until = timeAt(session, 'expires_at');
    return {
      kind: 'redirect',
      url: httpsUrlOf(textAt(session, 'url', 4_096)),
      reference: textAt(session, 'id') ?? unreadableReply(),
      expiresAt: until === null ? expiresAt : new Date(until),
    };
  }

  async function refund(input: RefundRequest): Promise<MadeRefund> {
    const { transactionId, amount, orderNumber, idempotencyKey } = input;
    const form = [
      ['payment_intent', transactionId],
      ['amount', unitsOf(amount)],
      ['metadata[order_id]', orderNumber],
    ] as const;
    const made = await post('/v1/refunds', form, idempotencyKey);
    return { refundId: textAt(made, 'id') ?? unreadableReply(), status: refundStatus(made) };
  }

  function post(path: string, form: StripeForm, idempotencyKey: string): Promise<Fields> {
    return client({ method: 'POST', path, form, idempotencyKey });
  }
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

/** A refund that fails at once is refused. @throws PlatformError */
function refundStatus(made: Fields): MadeRefund['status'] {
  const status = at(made, 'status');
  if (status === 'failed' || status === 'canceled') throw new PlatformError('refused', `refund_${status}`);
  return status === 'succeeded' ? 'succeeded' : 'pending';
}
