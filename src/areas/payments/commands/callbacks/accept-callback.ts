import type { PaymentDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { StoreUnavailable } from '../../../../event-sourcing/ports/errors.js';
import { withTimeLimit } from '../../../../kit/time/time-limit.js';
import { isOrderNumber, parseOrderNumber } from '../../domain/order/number.js';
import { outcomeIn, reportedFact } from '../../domain/order/order.js';
import type { ReceivedCallback } from '../../domain/payment-callback/events.js';
import { paymentCallbackAggregate } from '../../domain/payment-callback/payment-callback.js';
import type { PaymentFact, PaymentProviderName } from '../../domain/payment.js';
import type { VerifiedCallback } from '../../platforms/payment-provider.js';
import { makePassOnCallback } from './pass-on-callback.js';
import { callbackIdOf, notificationName } from '../../domain/payment-ids.js';
import { type Accepted, makeSettlePayment } from './settle-payment.js';
import { makeUrgent } from './urgent.js';

/**
 * Makes a verified callback durable, and settles it (docs/design.md#callbacks). It resolves when the platform need not send
 * the callback again. If the settlement of a new one fails or exceeds its time, a reaction does it. `isNew`: the service
 * knew neither its key nor, for a callback that goes to its order alone, its facts.
 * @throws StoreUnavailable, Overloaded
 */
export type AcceptCallback = (
  name: PaymentProviderName,
  verified: VerifiedCallback,
  receivedAt: Date,
  context: CommandContext,
) => Promise<{ readonly isNew: boolean }>;

/** Reports accepted callbacks to the operators. */
export interface AcceptNotices {
  /** Reports a message that came again with other content. */
  readonly onConflict: (callbackId: string) => void;
  /** Reports a failure that the reply does not show. */
  readonly onFailure: (work: string, error: unknown) => void;
}

/** The limit of the one attempt to append (docs/design.md#payment-callbacks): platforms wait 5 s. */
const appendMs = 3_000;
/** The time that the platform waits for the settlement, which a reaction would do as well. */
const settleMs = 1_500;

export function makeAcceptCallback({
  handler: written,
  paymentMakers,
  clock,
  onConflict,
  onFailure,
}: AcceptNotices & Pick<PaymentDeps, 'handler' | 'paymentMakers' | 'clock'>): AcceptCallback {
  const handler = makeUrgent(written);
  const settlePayment = makeSettlePayment({ handler, paymentMakers });
  const passOnCallback = makePassOnCallback({ handler, settlePayment });
  const exceeded = (): Error => new StoreUnavailable('the log has not answered in time');
  return async (name, verified, receivedAt, context) => {
    const callback = recordOf(name, verified, receivedAt);
    const id = callbackIdOf(name, verified.key);
    const accepted = await withTimeLimit(accept(id, callback, context), { ms: appendMs, clock, exceeded });
    if (accepted.isConflict) onConflict(id);
    const settled = accepted.settle(context);
    // A new report is accepted, so a reaction settles what fails here.
    await withTimeLimit(settled, { ms: settleMs, clock, exceeded }).catch((error: unknown) => {
      if (!accepted.isNew) throw error;
      onFailure('a payment callback was not settled at once', error);
    });
    return { isNew: accepted.isNew };
  };

  async function accept(id: string, callback: ReceivedCallback, context: CommandContext): Promise<Accepted> {
    const route = routeOf(callback);
    if (route === 'transaction') {
      const { provider, fields_digest: digest, notifications: told, ...received } = callback;
      const report = { ...received, key: id, digest, told, order_id: null };
      return settlePayment.accept(provider, report, context);
    }
    const told = route === 'order' ? await tellAlone(id, callback, context) : null;
    if (told !== null) return told;
    const target = { aggregate: paymentCallbackAggregate, id };
    const { events } = await handler.handle(target, { type: 'Receive', callback }, context);
    const types = events.map(({ type }) => type);
    return {
      isNew: types.includes('PaymentCallbackReceived'),
      isConflict: types.includes('PaymentCallbackConflicted'),
      settle: async (step) => (await passOnCallback(id, step))[0] ?? null,
    };
  }

  /** Tells the order alone what moves no money. Returns null where the order cannot take it. */
  async function tellAlone(
    id: string,
    { provider, notifications, received_at }: ReceivedCallback,
    context: CommandContext,
  ): Promise<Accepted | null> {
    const orderId = parseOrderNumber(notifications[0]?.order_number ?? '');
    const order = orderId === null ? null : await settlePayment.placedOrder(orderId);
    if (orderId === null || order?.provider !== provider) return null;
    const facts = notifications.map((one, index) =>
      reportedFact(one, received_at, { callback: notificationName(id, index), provider, mismatch: null }),
    );
    const isNew = facts.some((fact) => outcomeIn(order, fact) === 'owed');
    const outcomes = await settlePayment.tellOrder(orderId, facts, context);
    if (outcomes.includes('full')) return null;
    return { isNew, isConflict: false, settle: () => Promise.resolve(null) };
  }
}

/** Where a callback is accepted: docs/decisions/0062-a-report-is-accepted-in-the-stream-of-its-transaction.md#decision. */
type Route = 'transaction' | 'order' | 'inbox';

function routeOf({ provider, is_ours, notifications }: ReceivedCallback): Route {
  const [first, ...others] = notifications;
  const isOne = others.every(
    ({ order_number, transaction_id }) =>
      order_number === first?.order_number && transaction_id === first.transaction_id,
  );
  const isPlain = notifications.every(({ fact: { kind } }) => kind !== 'nothing' && kind !== 'unreadable');
  // The signature of PayPal does not bind the body to the key, so the key has a stream that shows other content.
  if (first === undefined || provider === 'paypal' || !isOne || !isPlain) return 'inbox';
  if (first.transaction_id !== null) return 'transaction';
  return is_ours && notifications.every(({ fact }) => !movesMoney(fact)) ? 'order' : 'inbox';
}

function movesMoney({ kind }: PaymentFact): boolean {
  return kind === 'paid' || kind === 'refund' || kind === 'refunded-in-total' || kind === 'dispute';
}

function recordOf(
  provider: PaymentProviderName,
  { digest, isOurs, notifications }: VerifiedCallback,
  receivedAt: Date,
): ReceivedCallback {
  return {
    provider,
    fields_digest: digest,
    is_ours: isOurs,
    notifications: notifications.map((notification) => ({
      ...notification,
      order_number: recordedNumber(notification.order_number),
    })),
    received_at: receivedAt.toISOString(),
  };
}

/**
 * Returns a number of ours, or `foreign`. Where shops share an account, another shop or a payer fills the field. It may
 * hold an address or a name, which no event may contain in clear text.
 */
function recordedNumber(number: string | null): string | null {
  return number === null || isOrderNumber(number) ? number : 'foreign';
}
