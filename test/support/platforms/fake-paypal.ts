import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { paypalPrivateKey } from '../examples/paypal-certificate.js';
import { createPrivateKey } from 'node:crypto';
import { type SentCallback, signPayPal } from '../clients/sign-callbacks.js';
import { orderProblem, ok, refusal, valueOf, unitsOf } from './paypal-objects.js';
import {
  givenPlatformServer,
  type PlatformServer,
  type ReceivedRequest,
  type ServerReply,
} from './platform-server.js';

export const paypalApp = {
  clientId: 'TestOnlyClientId0123456789',
  clientSecret: 'TestOnlyClientSecret0123456789',
} as const;
export const paypalWebhookId = '7AB12345CD678901E';

interface Order {
  readonly id: string;
  readonly number: string;
  /** As PayPal writes it: `9.99`. */
  readonly value: string;
  readonly currency: string;
  readonly captureId: string;
  status: 'PAYER_ACTION_REQUIRED' | 'APPROVED' | 'COMPLETED' | 'GONE';
  /** What the next captures answer in place of taking the money. */
  readonly refusals: string[];
  /** In hundredths. */
  refunded: number;
}

/** PayPal over TLS: orders, captures and refunds, and the callbacks of what buyers and PayPal do. */
interface FakePayPal extends PlatformServer {
  /** The URL that the service's client calls. */
  readonly url: string;
  readonly orders: readonly Order[];
  /** The tokens that were given out. */
  readonly tokens: readonly string[];
  /** From now on no token is known. */
  forgetTokens(): void;
  /** The buyer approves the order at its page. */
  approve(order: Order): SentCallback;
  /** The buyer's approval ends without a capture, or was never given: the order is gone. */
  expire(order: Order): SentCallback;
  dispute(order: Order, outcome: 'open' | 'won' | 'lost'): SentCallback;
  /** Makes an order for the same number past the service, approves and captures it. */
  payBeside(order: Order): SentCallback;
  /** Returns the callbacks of captures and refunds since the last call. */
  unsent(): readonly SentCallback[];
}

const certificateUrl = 'https://api.paypal.com/v1/notifications/certs/CERT-1';
const privateKey = createPrivateKey(paypalPrivateKey);

export async function givenPayPal(
  t: ExecutionContext,
  {
    now = () => new Date(),
    tokenSeconds = 32_400,
    pageMax = 300,
  }: { readonly now?: () => Date; readonly tokenSeconds?: number; readonly pageMax?: number } = {},
): Promise<FakePayPal> {
  const orders: Order[] = [];
  const tokens: string[] = [];
  const known = new Set<string>();
  const replies = new Map<string, { readonly request: string; readonly reply: ServerReply }>();
  const unsent: SentCallback[] = [];
  const events: JsonObject[] = [];
  let made = 0;
  const server = await givenPlatformServer(t, serve);

  return {
    ...server,
    url: `https://api-m.paypal.com:${server.port}`,
    orders,
    tokens,
    forgetTokens: () => known.clear(),
    approve: (order) => {
      if (order.status !== 'PAYER_ACTION_REQUIRED') throw new Error(`the order is ${order.status}`);
      order.status = 'APPROVED';
      return event('CHECKOUT.ORDER.APPROVED', 'checkout-order', orderObject(order));
    },
    expire: (order) => {
      order.status = 'GONE';
      const { id, number } = order;
      const resource = { id, purchase_units: [{ custom_id: number }] };
      return event('CHECKOUT.PAYMENT-APPROVAL.REVERSED', 'checkout-order', resource);
    },
    dispute: (order, outcome) => {
      const resource = {
        ...{ dispute_id: `PP-D-${order.id}`, status: outcome === 'open' ? 'OPEN' : 'RESOLVED' },
        disputed_transactions: [{ seller_transaction_id: order.captureId, custom: order.number }],
        dispute_amount: { value: order.value, currency_code: order.currency },
        ...(outcome === 'open' ? {} : { dispute_outcome: { outcome_code: outcomeCodes[outcome] } }),
      };
      const type = outcome === 'open' ? 'CREATED' : 'RESOLVED';
      return event(`CUSTOMER.DISPUTE.${type}`, 'dispute', resource);
    },
    payBeside: ({ number, value, currency }) => {
      const beside = newOrder({ number, value, currency });
      beside.status = 'COMPLETED';
      return event('PAYMENT.CAPTURE.COMPLETED', 'capture', captureObject(beside, 'COMPLETED'));
    },
    unsent: () => unsent.splice(0),
  };

  function serve(request: ReceivedRequest): ServerReply {
    if (request.path === '/v1/oauth2/token') return giveToken(request);
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    if (!known.has(token))
      return { ...ok({ error: 'invalid_token', error_description: canary }), status: 401 };
    return request.method === 'GET' ? show(request.path) : once(request);
  }

  function giveToken({ headers, body }: ReceivedRequest): ServerReply {
    const { clientId, clientSecret } = paypalApp;
    const basic = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
    if (headers.authorization !== basic || body !== 'grant_type=client_credentials') {
      return { ...ok({ error: 'invalid_client', error_description: canary }), status: 401 };
    }
    const token = `A21AAToken-${tokens.length + 1}`;
    tokens.push(token);
    known.add(token);
    return ok({ access_token: token, token_type: 'Bearer', expires_in: tokenSeconds, nonce: 'n' });
  }

  /** The reply to a known idempotency key is that of its first request. */
  function once(request: ReceivedRequest): ServerReply {
    const key = String(request.headers['paypal-request-id'] ?? '');
    const text = `${request.path} ${request.body}`;
    const earlier = replies.get(key);
    if (key === '' || (earlier !== undefined && earlier.request !== text)) {
      return refusal(422, 'DUPLICATE_REQUEST_ID');
    }
    if (earlier !== undefined) return { ...earlier.reply, status: 200 };
    const reply = change(request.path, JSON.parse(request.body) as JsonObject);
    if (reply.status < 300) replies.set(key, { request: text, reply });
    return reply;
  }

  function change(path: string, json: JsonObject): ServerReply {
    if (path === '/v2/checkout/orders') return makeOrder(json);
    const [, orderId] = /^\/v2\/checkout\/orders\/([A-Z0-9]+)\/capture$/.exec(path) ?? [];
    if (orderId !== undefined) return capture(orderId);
    const [, captureId] = /^\/v2\/payments\/captures\/([A-Z0-9]+)\/refund$/.exec(path) ?? [];
    return captureId === undefined ? refusal(404, 'RESOURCE_NOT_FOUND') : refund(captureId, json);
  }

  function makeOrder(json: JsonObject): ServerReply {
    const problem = orderProblem(json);
    if (problem !== null) return refusal(400, problem);
    const order = newOrder(unitsOf(json));
    orders.push(order);
    return { ...ok(orderObject(order)), status: 201 };
  }

  function newOrder(unit: Pick<Order, 'number' | 'value' | 'currency'>): Order {
    made += 1;
    const id = `5O19012${String(made).padStart(10, '0')}`;
    const captureId = `3C67936${String(made).padStart(10, '0')}`;
    return { id, captureId, ...unit, status: 'PAYER_ACTION_REQUIRED', refusals: [], refunded: 0 };
  }

  function capture(id: string): ServerReply {
    const order = orders.find((one) => one.id === id);
    if (order === undefined || order.status === 'GONE') return refusal(404, 'INVALID_RESOURCE_ID');
    if (order.status === 'COMPLETED') return refusal(422, 'ORDER_ALREADY_CAPTURED');
    if (order.status !== 'APPROVED') return refusal(422, 'ORDER_NOT_APPROVED');
    const refused = order.refusals.shift();
    if (refused !== undefined) {
      // The buyer chooses another way to pay, at the same page.
      order.status = 'PAYER_ACTION_REQUIRED';
      return refusal(422, refused);
    }
    const isTwice = orders.some((one) => one.number === order.number && one.status === 'COMPLETED');
    if (isTwice) return refusal(422, 'DUPLICATE_INVOICE_ID');
    order.status = 'COMPLETED';
    unsent.push(event('PAYMENT.CAPTURE.COMPLETED', 'capture', captureObject(order, 'COMPLETED')));
    return { ...ok(orderObject(order)), status: 201 };
  }

  function refund(captureId: string, json: JsonObject): ServerReply {
    const order = orders.find((one) => one.captureId === captureId && one.status === 'COMPLETED');
    if (order === undefined) return refusal(404, 'RESOURCE_NOT_FOUND');
    const amount = json['amount'] as JsonObject;
    const cents = Math.round(Number(amount['value']) * 100);
    if (amount['currency_code'] !== order.currency) return refusal(422, 'REFUND_CAPTURE_CURRENCY_MISMATCH');
    if (order.refunded + cents > Math.round(Number(order.value) * 100)) {
      return refusal(422, 'REFUND_AMOUNT_EXCEEDED');
    }
    order.refunded += cents;
    made += 1;
    const { currency: currency_code } = order;
    const resource = {
      ...{
        id: `1JU0829${String(made).padStart(10, '0')}`,
        status: 'COMPLETED',
        amount,
        custom_id: order.number,
      },
      seller_payable_breakdown: {
        total_refunded_amount: { value: valueOf(order.refunded, currency_code), currency_code },
      },
      links: [{ rel: 'up', href: `https://api.paypal.com/v2/payments/captures/${captureId}` }],
    };
    unsent.push(event('PAYMENT.CAPTURE.REFUNDED', 'refund', resource));
    return { ...ok(resource), status: 201 };
  }

  function show(path: string): ServerReply {
    if (path.startsWith('/v1/notifications/')) return eventsOf(path, events, pageMax);
    const [, id] = /^\/v2\/checkout\/orders\/([A-Z0-9]+)$/.exec(path) ?? [];
    const order = orders.find((one) => one.id === id && one.status !== 'GONE');
    return order === undefined ? refusal(404, 'INVALID_RESOURCE_ID') : ok(orderObject(order));
  }

  function orderObject(order: Order): JsonObject {
    const { id, status, number, value, currency } = order;
    const isCaptured = status === 'COMPLETED';
    return {
      ...{ id, status, intent: 'CAPTURE', create_time: now().toISOString() },
      purchase_units: [
        {
          ...{ custom_id: number, invoice_id: number, amount: { value, currency_code: currency } },
          ...(isCaptured ? { payments: { captures: [captureObject(order, 'COMPLETED')] } } : {}),
        },
      ],
      payer: { email_address: 'personal-canary@example.org' },
      links: [
        { rel: 'self', href: `https://api-m.paypal.com/v2/checkout/orders/${id}`, method: 'GET' },
        { rel: 'payer-action', href: `https://www.paypal.com/checkoutnow?token=${id}`, method: 'GET' },
      ],
    };
  }

  function captureObject(order: Order, status: string): JsonObject {
    const { id: order_id, captureId, number, value, currency } = order;
    return {
      ...{ id: captureId, status, custom_id: number, invoice_id: number, final_capture: true },
      amount: { value, currency_code: currency },
      supplementary_data: { related_ids: { order_id } },
    };
  }

  function event(event_type: string, resource_type: string, resource: JsonObject): SentCallback {
    made += 1;
    const at = now();
    const create_time = at.toISOString();
    const json = {
      ...{ id: `WH-${made}`, create_time, event_type, resource_type },
      resource: { ...resource, update_time: create_time },
    };
    events.push(json);
    const id = `00000000-test-${made}`;
    return signPayPal(json, { id, webhookId: paypalWebhookId, privateKey, certificateUrl, at });
  }
}

const outcomeCodes = { won: 'RESOLVED_SELLER_FAVOUR', lost: 'RESOLVED_BUYER_FAVOUR' } as const;
/** Text of PayPal's that quotes the request, which no log of the service may contain. */
const canary = `canary-of-the-message ${paypalApp.clientSecret}`;

const path = '/v1/notifications/webhooks-events';

/**
 * Answers a request for the list of events as PayPal does: the newest first, by times of their making, with a link to the next
 * page. @param events the oldest first @param pageMax the most events of a page, however many are asked for
 */
function eventsOf(requestPath: string, events: readonly JsonObject[], pageMax: number): ServerReply {
  const url = new URL(requestPath, 'https://api-m.paypal.com');
  const query = url.searchParams;
  const [from, to] = ['start_time', 'end_time'].map((name) => query.get(name) ?? '');
  const size = Number(query.get('page_size') ?? 10);
  const isTime = (text = '') => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(text);
  if (url.pathname !== path || !isTime(from) || !isTime(to) || !(size >= 1)) {
    return refusal(400, 'INVALID_PARAMETER_SYNTAX');
  }
  const found = events.toReversed().filter(({ create_time: time }) => {
    const at = typeof time === 'string' ? Date.parse(time) : NaN;
    return at >= Date.parse(from ?? '') && at <= Date.parse(to ?? '');
  });
  const begin = Number(query.get('index_id') ?? 0);
  const page = found.slice(begin, begin + Math.min(size, pageMax));
  query.set('move_to', 'next');
  query.set('index_id', String(begin + page.length));
  const escaped = query.toString().replaceAll('&', '&amp;');
  const next = { rel: 'next', method: 'GET', href: `https://api-m.paypal.com${path}/?${escaped}` };
  const isEnd = begin + page.length >= found.length;
  // The objects of the platform have many more fields.
  const whole = page.map((event) => ({ ...event, summary: 'x'.repeat(32_768) }));
  return ok({ events: whole, count: page.length, links: isEnd ? [] : [next] });
}
