import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import { type SentCallback, signStripe } from '../clients/sign-callbacks.js';
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
  readonly expiresAt: number;
  status: 'open' | 'complete' | 'expired';
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
  /** The bank refuses a payment by a delayed method, after the session was completed. */
  refuse(session: Session): readonly SentCallback[];
  expire(session: Session): SentCallback;
  dispute(session: Session, status: 'needs_response' | 'won' | 'lost'): SentCallback;
  /** Returns the callbacks of the refunds that were made since the last call. */
  refunds(): readonly SentCallback[];
}

const halfHour = 1_800;
const day = 86_400;

export async function givenStripe(
  t: ExecutionContext,
  { now = () => new Date() }: { readonly now?: () => Date } = {},
): Promise<FakeStripe> {
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
      return event('checkout.session.completed', objectOf(session, { payment_status: 'paid' }));
    },
    payBeside: (session) => {
      const beside: Session = {
        ...{ ...session, id: `cs_beside_${session.number}`, intent: `pi_${session.number}` },
        status: 'complete',
      };
      return event('checkout.session.completed', objectOf(beside, { payment_status: 'paid' }));
    },
    refuse: (session) => {
      session.status = 'complete';
      return [
        event('checkout.session.completed', objectOf(session, { payment_status: 'unpaid' })),
        event('checkout.session.async_payment_failed', objectOf(session, { payment_status: 'unpaid' })),
      ];
    },
    expire: (session) => {
      session.status = 'expired';
      return event('checkout.session.expired', objectOf(session, { payment_status: 'unpaid' }));
    },
    dispute: (session, status) =>
      event(status === 'needs_response' ? 'charge.dispute.created' : 'charge.dispute.closed', {
        ...{ id: `dp_${session.id}`, object: 'dispute', status },
        ...{ payment_intent: session.intent, amount: session.amount, currency: session.currency },
      }),
    refunds: () => unsent.splice(0),
  };

  function serve(request: ReceivedRequest): ServerReply {
    if (request.headers.authorization !== `Bearer ${stripeKey}`) {
      return refusal(401, 'invalid_request_error', null);
    }
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
      ...{ amount, currency, expiresAt, status: 'open', refunded: 0 },
    };
    sessions.push(session);
    return ok({
      ...objectOf(session, { payment_status: 'unpaid' }),
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
    unsent.push(
      event('refund.created', refund),
      event('charge.refunded', {
        ...{ id: `ch_${session.id}`, object: 'charge', payment_intent, currency },
        ...{ amount: session.amount, amount_refunded: session.refunded },
      }),
    );
    return ok(refund);
  }

  function objectOf({ id, number, amount, currency, intent, expiresAt, status }: Session, more: JsonObject) {
    return {
      ...{ id, object: 'checkout.session', mode: 'payment', status, expires_at: expiresAt },
      ...{ client_reference_id: number, metadata: { order_id: number } },
      ...{ amount_subtotal: amount, amount_total: amount, currency },
      payment_intent: status === 'complete' ? intent : null,
      ...more,
    };
  }

  function event(type: string, object: JsonObject): SentCallback {
    made += 1;
    return signStripe(
      {
        ...{ id: `evt_${made}`, object: 'event', type, created: seconds(), livemode: false },
        data: { object },
      },
      { secret: stripeSecret, at: now() },
    );
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
