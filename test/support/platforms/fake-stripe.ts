import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { type SentCallback, signStripe } from '../clients/sign-callbacks.js';
import { listOf, type StripeItem } from './fake-stripe-lists.js';
import {
  givenPlatformServer,
  type PlatformServer,
  type ReceivedRequest,
  type ServerReply,
} from './platform-server.js';

export const stripeKey = 'sk_test_TestOnly0123456789abcdef';
export const stripeSecret = 'whsec_testOnlyTheFakeStripe0123456789';

interface Session {
  readonly id: string;
  readonly number: string;
  /** In Stripe's units. */
  readonly amount: number;
  readonly currency: string;
  readonly intent: string;
  readonly createdAt: number;
  readonly expiresAt: number;
  status: 'open' | 'complete' | 'expired';
  isPaid: boolean;
  refunded: number;
}

/** Stripe over TLS: Checkout Sessions and refunds, and the callbacks of what buyers and banks do. */
export interface FakeStripe extends PlatformServer {
  /** The URL that the service's client calls. */
  readonly url: string;
  readonly sessions: readonly Session[];
  /** The buyer pays at the session's page. */
  pay(session: Session): SentCallback;
  /** A shop makes another session for the same number, which the buyer pays. */
  payBeside(session: Session): SentCallback;
  /** The event of the payment intent of such a session, which names neither the session nor the number. */
  intentBeside(session: Session): SentCallback;
  /** The bank refuses a payment by a delayed method, after the session was completed. */
  refuse(session: Session): readonly SentCallback[];
  expire(session: Session): SentCallback;
  dispute(session: Session, status: 'needs_response' | 'won' | 'lost'): SentCallback;
  /** Returns the callbacks of the refunds that were made since the last call. */
  refunds(): readonly SentCallback[];
  /** A shop's own payment intent is paid. @param number the order's, as the shop gave it */
  payIntent(number: string | null, amount: number): SentCallback;
  /** 30 days have passed: Stripe keeps its objects, and lists no event of before. */
  forgetEvents(): void;
  /** The bank refuses a refund that was made. */
  failRefund(id: string): SentCallback;
}

const halfHour = 1_800;
const day = 86_400;

export async function givenStripe(
  t: ExecutionContext,
  { now = () => new Date(), pageMax = 100 }: { readonly now?: () => Date; readonly pageMax?: number } = {},
): Promise<FakeStripe> {
  const events: StripeItem[] = [];
  const refunds: StripeItem[] = [];
  const disputes: StripeItem[] = [];
  const intents: StripeItem[] = [];
  const sessions: Session[] = [];
  const replies = new Map<string, { readonly request: string; readonly reply: ServerReply }>();
  const unsent: SentCallback[] = [];
  let made = 0;
  const server = await givenPlatformServer(t, serve);
  const seconds = (): number => Math.floor(now().getTime() / 1_000);

  return {
    ...server,
    url: `https://api.stripe.com:${server.port}`,
    sessions,
    pay: (session) => {
      if (session.status !== 'open') throw new Error(`the session is ${session.status}`);
      session.status = 'complete';
      session.isPaid = true;
      return event('checkout.session.completed', objectOf(session));
    },
    payBeside: (session) => {
      const beside: Session = {
        ...{ ...session, id: `cs_beside_${session.number}`, intent: `pi_${session.number}` },
        ...{ status: 'complete', isPaid: true },
      };
      return event('checkout.session.completed', objectOf(beside));
    },
    intentBeside: (session) =>
      event('payment_intent.succeeded', intentOf({ ...session, intent: `pi_${session.number}` }).json),
    refuse: (session) => {
      session.status = 'complete';
      return [
        event('checkout.session.completed', objectOf(session)),
        event('checkout.session.async_payment_failed', objectOf(session)),
      ];
    },
    expire: (session) => {
      session.status = 'expired';
      return event('checkout.session.expired', objectOf(session));
    },
    dispute: (session, status) => {
      const dispute = {
        ...{ id: `dp_${session.id}`, object: 'dispute', status, livemode: false },
        ...{ payment_intent: session.intent, amount: session.amount, currency: session.currency },
      };
      keep(disputes, dispute);
      return event(status === 'needs_response' ? 'charge.dispute.created' : 'charge.dispute.closed', dispute);
    },
    refunds: () => unsent.splice(0),
    payIntent: (number, amount) => {
      made += 1;
      const intent = {
        ...{ id: `pi_${made}`, object: 'payment_intent', status: 'succeeded', livemode: false },
        ...{ amount, amount_received: amount, currency: 'usd' },
        metadata: number === null ? {} : { order_id: number },
      };
      keep(intents, intent);
      return event('payment_intent.succeeded', intent);
    },
    forgetEvents: () => events.splice(0),
    failRefund: (id) => {
      const refund = refunds.find((one) => one.id === id);
      if (refund === undefined) throw new Error(`Stripe has no refund ${id}`);
      const failed = { ...refund.json, id, status: 'failed' };
      keep(refunds, failed);
      return event('refund.failed', failed);
    },
  };

  /** Keeps the latest state of an object at the place and time at which it was made. */
  function keep(items: StripeItem[], json: JsonObject & { readonly id: string }): void {
    const known = items.findIndex(({ id }) => id === json.id);
    const created = items[known]?.created ?? seconds();
    const item = { id: json.id, created, json: { ...json, created } };
    items.splice(known < 0 ? items.length : known, 1, item);
  }

  function list(request: ReceivedRequest): ServerReply {
    const [path] = request.path.split('?');
    const kept: Readonly<Record<string, readonly StripeItem[]>> = {
      '/v1/events': events,
      '/v1/checkout/sessions': sessions.map((session) => ({
        ...{ id: session.id, created: session.createdAt, json: objectOf(session) },
      })),
      // The intent of a session has none of its metadata.
      '/v1/payment_intents': [
        ...sessions.filter(({ isPaid }) => isPaid).map((session) => intentOf(session)),
        ...intents,
      ],
      '/v1/refunds': refunds,
      '/v1/disputes': disputes,
    };
    const items = kept[path ?? ''];
    if (items === undefined) return refusal(404, 'invalid_request_error', null);
    const reply = listOf(request, items, pageMax);
    return typeof reply === 'string' ? refusal(400, 'invalid_request_error', reply) : ok(reply);
  }

  function serve(request: ReceivedRequest): ServerReply {
    if (request.headers.authorization !== `Bearer ${stripeKey}`) {
      return refusal(401, 'invalid_request_error', null);
    }
    if (request.method === 'GET') return list(request);
    const key = String(request.headers['idempotency-key']);
    const text = `${request.path} ${request.body}`;
    const known = replies.get(key);
    if (known !== undefined) {
      return known.request === text ? known.reply : refusal(400, 'idempotency_error', null);
    }
    const form = Object.fromEntries(new URLSearchParams(request.body));
    const reply =
      request.path === '/v1/checkout/sessions' ? makeSession(form) : makeRefund(request.path, form);
    if (reply.status === 200) replies.set(key, { request: text, reply });
    return reply;
  }

  function makeSession(form: Readonly<Record<string, string>>): ServerReply {
    const item = 'line_items[0]';
    const expiresAt = Number(form['expires_at']);
    const amount = Number(form[`${item}[price_data][unit_amount]`]) * Number(form[`${item}[quantity]`]);
    const currency = form[`${item}[price_data][currency]`] ?? '';
    if (form['mode'] !== 'payment' || !URL.canParse(form['success_url'] ?? '')) {
      return refusal(400, 'invalid_request_error', 'parameter_missing');
    }
    if (!/^\d+$/.test(form['expires_at'] ?? '')) {
      return refusal(400, 'invalid_request_error', 'parameter_invalid_integer');
    }
    if (expiresAt < seconds() + halfHour || expiresAt > seconds() + day) {
      return refusal(400, 'invalid_request_error', 'expires_at_invalid');
    }
    if (!Number.isSafeInteger(amount) || !/^[a-z]{3}$/.test(currency)) {
      return refusal(400, 'invalid_request_error', 'parameter_invalid_integer');
    }
    made += 1;
    const session: Session = {
      ...{ id: `cs_test_${made}`, intent: `pi_${made}`, number: form['client_reference_id'] ?? '' },
      ...{ amount, currency, expiresAt, createdAt: seconds(), status: 'open', isPaid: false, refunded: 0 },
    };
    sessions.push(session);
    return ok({
      ...objectOf(session),
      url: `https://checkout.stripe.com/c/pay/${session.id}#fid`,
    });
  }

  function makeRefund(path: string, form: Readonly<Record<string, string>>): ServerReply {
    const session = sessions.find(({ intent }) => intent === form['payment_intent']);
    if (path !== '/v1/refunds' || session?.status !== 'complete') {
      return refusal(404, 'invalid_request_error', 'resource_missing');
    }
    const amount = Number(form['amount']);
    if (session.refunded + amount > session.amount) {
      return refusal(400, 'invalid_request_error', 'charge_already_refunded');
    }
    session.refunded += amount;
    made += 1;
    const { intent: payment_intent, currency } = session;
    const refund = {
      ...{ id: `re_${made}`, object: 'refund', amount, currency, payment_intent, status: 'succeeded' },
    };
    keep(refunds, refund);
    unsent.push(
      event('refund.created', refund),
      event('charge.refunded', {
        ...{ id: `ch_${session.id}`, object: 'charge', payment_intent, currency },
        ...{ amount: session.amount, amount_refunded: session.refunded },
      }),
    );
    return ok(refund);
  }

  function intentOf({ intent: id, createdAt: created, amount, currency }: Session): StripeItem {
    const json = { ...{ id, object: 'payment_intent', status: 'succeeded', created, livemode: false } };
    return { id, created, json: { ...json, amount, amount_received: amount, currency, metadata: {} } };
  }

  function objectOf(session: Session) {
    const { id, number, amount, currency, intent, createdAt: created, expiresAt, status, isPaid } = session;
    return {
      ...{ id, object: 'checkout.session', mode: 'payment', status, created, expires_at: expiresAt },
      ...{ client_reference_id: number, metadata: { order_id: number }, livemode: false },
      ...{ amount_subtotal: amount, amount_total: amount, currency },
      payment_intent: status === 'complete' ? intent : null,
      payment_status: isPaid ? 'paid' : 'unpaid',
    };
  }

  function event(type: string, object: JsonObject): SentCallback {
    made += 1;
    const [id, created] = [`evt_${made}`, seconds()];
    const json = { id, object: 'event', type, created, livemode: false, data: { object } };
    events.push({ id, created, json });
    return signStripe(json, { secret: stripeSecret, at: now() });
  }
}

function ok(body: JsonObject): ServerReply {
  return { status: 200, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

function refusal(status: number, type: string, code: string | null): ServerReply {
  // The message quotes the request, which no log of the service may contain.
  const error = { type, message: `canary-of-the-message ${stripeKey}`, ...(code === null ? {} : { code }) };
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify({ error }) };
}
