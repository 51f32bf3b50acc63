import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../event-sourcing/deciding/ids.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { withTimeLimit } from '../../concurrency/time-limit.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import type { ReceivedCallback } from '../../domain/payment-callback/events.js';
import { paymentCallbackAggregate } from '../../domain/payment-callback/payment-callback.js';
import type { PaymentFact, PaymentProviderName } from '../../domain/payment.js';
import type {
  Acknowledgement,
  PaymentCallback,
  VerifiedCallback,
} from '../../integrations/payments/payment-provider.js';
import { isRejection } from '../shared/rejections.js';
import type { PassOnCallback } from './pass-on-callback.js';
import { callbackIdOf, notificationName, transactionStreamId } from '../../domain/payment-ids.js';
import type { SettlePayment } from './settle-payment.js';

export type CallbackOutcome =
  /** The platform need not send it again. */
  | { readonly kind: 'acknowledged'; readonly acknowledgement: Acknowledgement }
  /** It changes nothing: a buyer's return page, or a GET without a meaning. */
  | { readonly kind: 'shown' }
  | { readonly kind: 'not_configured' }
  /** The signature is not valid. The service read and wrote nothing. */
  | { readonly kind: 'refused' }
  /** It cannot be verified now; the platform sends it again. */
  | { readonly kind: 'unavailable' };

/**
 * Accepts a callback of a payment platform (docs/design.md#callbacks): verifies it, makes its acceptance durable and
 * settles it. If the settlement of a new callback fails or exceeds its time, a reaction does it.
 * @throws StoreUnavailable, Overloaded: the platform must send it again
 */
export interface ReceivePaymentCallback {
  (
    input: { readonly name: PaymentProviderName; readonly callback: PaymentCallback },
    context: CommandContext,
  ): Promise<CallbackOutcome>;
}

/** Reports callbacks to the operators. */
export interface CallbackNotices {
  /** Reports a refused or unverifiable callback. @param reason the problem */
  readonly onRefused: (provider: PaymentProviderName, reason: string) => void;
  /** Reports a message that came again with other content. */
  readonly onConflict: (callbackId: string) => void;
  /** Reports a failure that the reply does not show. */
  readonly onFailure: (work: string, error: unknown) => void;
}

/** Providers that may confirm with GET. */
const confirmsByGet: readonly PaymentProviderName[] = ['epay', 'alipay'];

/** The limit of the one attempt to append (docs/design.md#payment-callbacks): platforms wait 5 s. */
const appendMs = 3_000;
/** The time that the platform waits for the settlement, which a reaction would do as well. */
const settleMs = 1_500;

export function makeReceivePaymentCallback({
  paymentProviders,
  handler,
  settlePayment,
  passOnCallback,
  clock,
  onRefused,
  onConflict,
  onFailure,
}: CallbackNotices &
  Pick<Deps, 'handler' | 'clock' | 'paymentProviders'> & {
    readonly settlePayment: SettlePayment;
    readonly passOnCallback: PassOnCallback;
  }): ReceivePaymentCallback {
  const exceeded = (): Error => new StoreUnavailable('the log has not answered in time');
  return async ({ name, callback }, context) => {
    const provider = paymentProviders.get(name);
    if (callback.method === 'GET' && (callback.query === '' || !confirmsByGet.includes(name))) {
      return { kind: 'shown' };
    }
    if (provider === undefined) return { kind: 'not_configured' };
    const verification = await provider.verify(callback);
    switch (verification.kind) {
      case 'refused':
        onRefused(name, verification.reason);
        return { kind: 'refused' };
      case 'unavailable':
        onRefused(name, verification.problem);
        return { kind: 'unavailable' };
      case 'verified':
        if (callback.method === 'GET' && provider.get === 'shows') return { kind: 'shown' };
        await accept(name, verification.callback, callback.receivedAt, context);
        return { kind: 'acknowledged', acknowledgement: provider.acknowledgement };
    }
  };

  /** Resolves when the platform need not send the callback again. */
  async function accept(
    name: PaymentProviderName,
    verified: VerifiedCallback,
    receivedAt: Date,
    context: CommandContext,
  ): Promise<void> {
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
  }

  async function acceptIn(route: Route, received: Received, context: CommandContext): Promise<Accepted> {
    if (route === 'order' && (await isTold(received, context))) return told;
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

  /** Tells the order alone what moves no money. Returns false where the order cannot take it. */
  async function isTold({ id, callback }: Received, context: CommandContext): Promise<boolean> {
    const { provider, notifications, received_at } = callback;
    const orderId = parseOrderNumber(notifications[0]?.order_number ?? '');
    const order = orderId === null ? null : await settlePayment.placedOrder(orderId, 'urgent');
    if (orderId === null || order?.provider !== provider) return false;
    const facts = notifications.map(({ fact, at }, index) => ({
      ...{ callback: notificationName(id, index), provider, transactionId: null, mismatch: null, fact },
      at: new Date(at ?? received_at),
    }));
    return !(await settlePayment.tellOrder(orderId, facts, context, 'urgent')).includes('full');
  }
}

/** An accepted callback. `settle` does what a reaction would do as well. */
interface Accepted {
  readonly isNew: boolean;
  readonly isConflict: boolean;
  readonly settle: (context: CommandContext) => Promise<void>;
}

const told: Accepted = { isNew: true, isConflict: false, settle: () => Promise.resolve() };

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
