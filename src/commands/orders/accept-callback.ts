import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../event-sourcing/deciding/ids.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { withTimeLimit } from '../../concurrency/time-limit.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import { outcomeIn } from '../../domain/order/order.js';
import type { ReceivedCallback } from '../../domain/payment-callback/events.js';
import { paymentCallbackAggregate } from '../../domain/payment-callback/payment-callback.js';
import type { PaymentFact, PaymentProviderName } from '../../domain/payment.js';
import type { VerifiedCallback } from '../../integrations/payments/payment-provider.js';
import { isRejection } from '../shared/rejections.js';
import type { PassOnCallback } from './pass-on-callback.js';
import { callbackIdOf, notificationName, transactionStreamId } from '../../domain/payment-ids.js';
import type { SettlePayment } from './settle-payment.js';

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
  handler,
  settlePayment,
  passOnCallback,
  clock,
  onConflict,
  onFailure,
}: AcceptNotices &
  Pick<Deps, 'handler' | 'clock'> & {
    readonly settlePayment: SettlePayment;
    readonly passOnCallback: PassOnCallback;
  }): AcceptCallback {
  const exceeded = (): Error => new StoreUnavailable('the log has not answered in time');
  return async (name, verified, receivedAt, context) => {
    const callback = recordOf(name, verified, receivedAt);
    const id = callbackIdOf(name, verified.key);
    const accepted = await withTimeLimit(acceptIn(routeOf(callback), { id, callback }, context), {
      ...{ ms: appendMs, clock, exceeded },
    });
    if (accepted.isConflict) onConflict(id);
    const settled = withTimeLimit(accepted.settle(stepContext(context, 'settle')), {
      ...{ ms: settleMs, clock, exceeded },
    });
    // A new report is accepted, so a reaction settles what fails here.
    await settled.catch((error: unknown) => {
      if (!accepted.isNew) throw error;
      onFailure('a payment callback was not settled at once', error);
    });
    return { isNew: accepted.isNew };
  };

  async function acceptIn(route: Route, received: Received, context: CommandContext): Promise<Accepted> {
    const told = route === 'order' ? await tellAlone(received, context) : null;
    if (told !== null) return told;
    if (route !== 'transaction') return acceptInInbox(received, context);
    const { id: key, callback } = received;
    const { provider, fields_digest: digest, is_ours, notifications, received_at } = callback;
    const transaction = transactionStreamId(provider, notifications[0]?.transaction_id ?? '');
    const report = { key, digest, is_ours, told: notifications, received_at };
    try {
      const accepted = await settlePayment.accept(transaction, report, context, { pace: 'urgent' });
      const settle = (step: CommandContext) =>
        settlePayment.tell(transaction, accepted.revision, step, 'urgent');
      return { ...accepted, settle };
    } catch (error) {
      if (!isRejection(error, 'transaction_full')) throw error;
      return acceptInInbox(received, stepContext(context, 'inbox'));
    }
  }

  async function acceptInInbox({ id, callback }: Received, context: CommandContext): Promise<Accepted> {
    const { events } = await handler.handle(
      { aggregate: paymentCallbackAggregate, id },
      { type: 'Receive', callback },
      context,
      { isUrgent: true, load: 'new', appendTries: 1 },
    );
    const types = events.map(({ type }) => type);
    return {
      isNew: types.includes('PaymentCallbackReceived'),
      isConflict: types.includes('PaymentCallbackConflicted'),
      settle: (step) => passOnCallback.passOn(id, step, 'urgent'),
    };
  }

  /** Tells the order alone what moves no money. Returns null where the order cannot take it. */
  async function tellAlone({ id, callback }: Received, context: CommandContext): Promise<Accepted | null> {
    const { provider, notifications, received_at } = callback;
    const orderId = parseOrderNumber(notifications[0]?.order_number ?? '');
    const order = orderId === null ? null : await settlePayment.placedOrder(orderId, 'urgent');
    if (orderId === null || order?.provider !== provider) return null;
    const facts = notifications.map(({ fact, at }, index) => ({
      ...{ callback: notificationName(id, index), provider, transactionId: null, mismatch: null, fact },
      at: new Date(at ?? received_at),
    }));
    const isNew = facts.some((fact) => outcomeIn(order, fact) === 'owed');
    const outcomes = await settlePayment.tellOrder(orderId, facts, context, 'urgent');
    return outcomes.includes('full') ? null : { isNew, isConflict: false, settle: () => Promise.resolve() };
  }
}

/** An accepted callback. `settle` does what a reaction would do as well. */
interface Accepted {
  readonly isNew: boolean;
  readonly isConflict: boolean;
  readonly settle: (context: CommandContext) => Promise<void>;
}

interface Received {
  readonly id: string;
  readonly callback: ReceivedCallback;
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
  return number === null || parseOrderNumber(number) !== null ? number : 'foreign';
}
