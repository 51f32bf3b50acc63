import { toStripeAmount } from '../money.js';
import { at, textAt, timeAt } from '../calls/parsing.js';
import type { Money } from '../../domain/fact.js';
import { type PaymentMaker, type PaymentRequest, PlatformError } from '../payment-maker.js';
import {
  httpsUrlOf,
  unreadableReply,
  type MakerSurroundings,
  fieldsOfReply,
} from '../calls/platform-calls.js';

const publicUrl = 'https://api.stripe.com';
/** The version of Stripe's API whose requests a test compares with those of Stripe's SDK. */
export const stripeVersion = '2026-10-28.endive';

/** The credentials with which the service makes payments and refunds. */
export type StripeApi = { readonly secretKey: string };

/** The names and values of a form, or of a query. */
export type StripeForm = readonly (readonly [string, string])[];

export type StripeRequest = { readonly path: string; readonly form: StripeForm } & (
  | { readonly method: 'POST'; readonly idempotencyKey: string }
  | { readonly method: 'GET'; /** The bytes of the reply to read. */ readonly bodyBytesMax: number }
);

/** Sends a request, and returns the object of the reply. @throws PlatformError */
export type StripeClient = ReturnType<typeof makeStripeClient>;

const codePaths = ['error.code', 'error.type'];

/** Makes the client of Stripe's API v1. */
export function makeStripeClient(
  { secretKey }: StripeApi,
  { call, baseUrl = publicUrl }: Omit<MakerSurroundings, 'now'>,
) {
  const headers = {
    authorization: `Bearer ${secretKey}`,
    accept: 'application/json',
    'content-type': 'application/x-www-form-urlencoded',
    'stripe-version': stripeVersion,
  };
  return async (request: StripeRequest) => {
    const url = `${baseUrl}${request.path}`;
    const text = formText(request.form);
    const reply = await call(
      request.method === 'GET'
        ? { method: 'GET', url: `${url}?${text}`, headers, bodyBytesMax: request.bodyBytesMax }
        : {
            ...{ method: 'POST', url, body: Buffer.from(text) },
            headers: { ...headers, 'idempotency-key': request.idempotencyKey },
          },
    );
    return fieldsOfReply(reply, codePaths);
  };
}

/** Encodes a form as Stripe's SDK does: brackets stay, all other reserved characters are escaped. */
function formText(form: StripeForm): string {
  return form.map(([name, value]) => `${encoded(name)}=${encoded(value)}`).join('&');
}

function encoded(text: string): string {
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%5B', '[')
    .replaceAll('%5D', ']');
}

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
