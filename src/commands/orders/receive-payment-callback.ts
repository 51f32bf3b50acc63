import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../event-sourcing/deciding/ids.js';
import { StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import { withTimeLimit } from '../../concurrency/time-limit.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import type { ReceivedCallback } from '../../domain/payment-callback/events.js';
import { paymentCallbackAggregate } from '../../domain/payment-callback/payment-callback.js';
import type { PaymentProviderName } from '../../domain/payment.js';
import type {
  Acknowledgement,
  PaymentCallback,
  VerifiedCallback,
} from '../../integrations/payments/payment-provider.js';
import { callbackIdOf } from './payment-ids.js';
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
  clock,
  onRefused,
  onConflict,
  onFailure,
}: CallbackNotices &
  Pick<Deps, 'handler' | 'clock' | 'paymentProviders'> & {
    readonly settlePayment: SettlePayment;
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
    const id = callbackIdOf(name, verified.key);
    const received = recordOf(name, verified, receivedAt);
    const { events } = await withTimeLimit(
      handler.handle(
        { aggregate: paymentCallbackAggregate, id },
        { type: 'Receive', callback: received },
        context,
        { isUrgent: true, load: 'new', appendTries: 1 },
      ),
      { ms: appendMs, clock, exceeded },
    );
    const types = events.map(({ type }) => type);
    if (types.includes('PaymentCallbackConflicted')) onConflict(id);
    const settled = withTimeLimit(settlePayment.settle(id, stepContext(context, 'settle')), {
      ms: settleMs,
      clock,
      exceeded,
    });
    if (types.includes('PaymentCallbackReceived')) {
      // The callback is accepted, so the reaction settles what fails here.
      await settled.catch((error: unknown) => {
        onFailure('a payment callback was not settled at once', error);
      });
    } else {
      await settled;
    }
  }
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
