import type { Clock } from '../event-sourcing/clock.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { stepContext } from '../event-sourcing/ids.js';
import { makeSharedLimit, type WithinLimit } from '../event-sourcing/shared-limit.js';
import { parseOrderNumber } from '../domain/order/number.js';
import type { ReceivedCallback } from '../domain/payment-callback/events.js';
import { paymentCallbackAggregate } from '../domain/payment-callback/payment-callback.js';
import type { PaymentProviderName, RecordedFact } from '../domain/payment.js';
import type {
  Acknowledgement,
  PaymentCallback,
  PaymentFact,
  PaymentNotification,
  VerifiedCallback,
} from '../integrations/payments/payment-provider.js';
import type { PaymentProviders } from '../integrations/payments/payment-providers.js';
import { callbackIdOf } from './payment-ids.js';
import type { SettlePayment } from './settle-payment.js';

/** How a callback was taken. */
export type CallbackOutcome =
  /** The platform need not send it again. */
  | { readonly kind: 'acknowledged'; readonly acknowledgement: Acknowledgement }
  /** It changes nothing: only what a person returns with, or a GET that says nothing. */
  | { readonly kind: 'shown' }
  | { readonly kind: 'not_configured' }
  /** Nobody proved to be the platform. Nothing was read or written. */
  | { readonly kind: 'refused' }
  /** It cannot be judged now. */
  | { readonly kind: 'unavailable' };

/**
 * Takes a callback of a payment platform (DESIGN 3, Callbacks): once it is verified and its acceptance is durable it is
 * settled at once, as far as that goes; the rest is a reaction's.
 * @throws StoreUnavailable, Overloaded: the platform is to send it again
 */
export interface ReceivePaymentCallback {
  (
    input: { readonly name: PaymentProviderName; readonly callback: PaymentCallback },
    context: CommandContext,
  ): Promise<CallbackOutcome>;
}

/** What is told of callbacks to those who run the service. */
export interface CallbackNotices {
  /** @param reason why it was not believed, or could not be judged */
  readonly onRefused: (provider: PaymentProviderName, reason: string) => void;
  /** A message came back with other content. */
  readonly onConflict: (callbackId: string) => void;
  /** Work that failed beside an answer. */
  readonly onFailure: (what: string, error: unknown) => void;
}

/** Those that may confirm with GET. */
const confirmsByGet: readonly PaymentProviderName[] = ['epay', 'alipay'];

/** DESIGN 4.5: one try at the append, and no longer than this; platforms wait 5 s. Milliseconds. */
const appendMs = 3_000;
/** How long a platform waits for what a reaction would do as well. */
const settleMs = 1_500;

export function makeReceivePaymentCallback({
  providers,
  handler,
  settlePayment,
  clock,
  onRefused,
  onConflict,
  onFailure,
}: CallbackNotices & {
  readonly providers: PaymentProviders;
  readonly handler: CommandHandler;
  readonly settlePayment: SettlePayment;
  readonly clock: Clock;
}): ReceivePaymentCallback {
  const limit = (limitMs: number): WithinLimit =>
    makeSharedLimit({ clock, limitMs, problem: 'the log has not answered in time' });
  const [withinAppend, withinSettling] = [limit(appendMs), limit(settleMs)];
  return async ({ name, callback }, context) => {
    const provider = providers.get(name);
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

  /** Resolves once it need not be sent again. */
  async function accept(
    name: PaymentProviderName,
    verified: VerifiedCallback,
    receivedAt: Date,
    context: CommandContext,
  ): Promise<void> {
    const id = callbackIdOf(name, verified.key);
    const received = recordOf(name, verified, receivedAt);
    const { events, revision } = await withinAppend(
      handler.handle(
        { aggregate: paymentCallbackAggregate, id },
        { type: 'Receive', callback: received },
        context,
        { leavesDocuments: true, guess: 'new', appendTries: 1 },
      ),
    );
    const types = events.map(({ type }) => type);
    if (types.includes('PaymentCallbackConflicted')) onConflict(id);
    const settled = withinSettling(
      settlePayment.settle(id, stepContext(context, 'settle'), { seenAt: revision }),
    );
    if (types.includes('PaymentCallbackReceived')) {
      // It is accepted: what could not be settled now is settled by the reaction.
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
    notifications: notifications.map(notificationOf),
    received_at: receivedAt.toISOString(),
  };
}

function notificationOf({
  reference,
  fact,
  at,
}: PaymentNotification): ReceivedCallback['notifications'][number] {
  return {
    order_number: reference.orderNumber === null ? null : recordedNumber(reference.orderNumber),
    transaction_id: reference.transactionId,
    fact: factOf(fact),
    at: at?.toISOString() ?? null,
  };
}

/**
 * A number of ours, or `foreign`: the field is the payer's or another shop's to fill where several share an account, so it may
 * hold an address or a name, which no event keeps in clear.
 */
function recordedNumber(number: string): string {
  return parseOrderNumber(number) === null ? 'foreign' : number;
}

function factOf(fact: PaymentFact): RecordedFact {
  switch (fact.kind) {
    case 'paid':
    case 'refunded-in-total':
      return { kind: fact.kind, ...fact.money };
    case 'refund':
      return { kind: 'refund', refund_id: fact.refundId, status: fact.status, ...fact.money };
    case 'dispute':
      return { kind: 'dispute', dispute_id: fact.disputeId, status: fact.status };
    case 'unreadable':
      return { kind: 'unreadable', field: fact.field };
    case 'pending':
    case 'failed':
    case 'expired':
    case 'canceled':
    case 'nothing':
      return { kind: fact.kind };
  }
}
