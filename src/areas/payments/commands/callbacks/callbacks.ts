import type { CommandHandler } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { StoreUnavailable } from '../../../../event-sourcing/ports/errors.js';
import { withTimeLimit } from '../../../../kit/time/time-limit.js';
import type { PaymentDeps } from '../../deps.js';
import {
  parseOrderNumber,
  reportKeyOf,
  type PaymentProviderName,
  platformTerms,
} from '../../domain/payment.js';
import type { PaymentReport } from '../../domain/transaction/events.js';
import type { Acknowledgement, PaymentCallback, VerifiedCallback } from '../../platforms/payment-provider.js';
import { makeCallbackTurns } from './callback-turns.js';
import { makePaymentReports } from './reports.js';

/**
 * Makes a verified callback durable, and applies it (src/areas/payments/README.md#callbacks). It resolves when the platform need not send
 * the callback again. If a new one cannot be applied in its time, a reaction does it. `isNew`: its key was not known.
 * @throws StoreUnavailable, Overloaded
 */
export type AcceptCallback = ReturnType<typeof makeAcceptCallback>;

/** Reports accepted callbacks to the operators. */
interface AcceptNotices extends Pick<PaymentDeps, 'onFailure'> {
  /** Reports a message that came again with other content. @param report the id of the first one's report */
  readonly onConflict: (report: string) => void;
}

/** The limit of the one attempt to append (src/areas/payments/README.md#payment-callbacks): platforms wait 5 s. */
const appendMs = 3_000;
/** The time that the platform waits for the order, which a reaction would do as well. */
const applyMs = 1_500;

export function makeAcceptCallback(
  deps: AcceptNotices &
    Pick<PaymentDeps, 'handler' | 'paymentMakers' | 'clock'> & {
      /** See `makePaymentReports`. */
      readonly underWay?: Set<string>;
    },
) {
  const { handler, paymentMakers, clock, onConflict, onFailure, underWay = new Set() } = deps;
  const reports = makePaymentReports({ handler: makeUrgent(handler), paymentMakers });
  const exceeded = (): Error => new StoreUnavailable('the log has not answered in time');
  return async (
    name: PaymentProviderName,
    verified: VerifiedCallback,
    receivedAt: Date,
    context: CommandContext,
  ) => {
    const report = reportOf(name, verified, receivedAt);
    const stream = reports.streamOf(name, report);
    const end = (): void => void underWay.delete(stream);
    underWay.add(stream);
    const reporting = reports.report(name, report, context);
    const reported = await withTimeLimit(reporting, { ms: appendMs, clock, exceeded }).catch(
      (error: unknown) => {
        end();
        throw error;
      },
    );
    const applied = reported.apply(context).finally(end);
    if (reported.isConflict) onConflict(reported.name);
    // A new report is durable, so a reaction applies what fails here.
    await withTimeLimit(applied, { ms: applyMs, clock, exceeded }).catch((error: unknown) => {
      if (!reported.isNew) throw error;
      onFailure('a payment callback was not applied at once', error);
    });
    return { isNew: reported.isNew };
  };
}

function reportOf(
  provider: PaymentProviderName,
  { key, digest, isOurs: is_ours, notifications }: VerifiedCallback,
  receivedAt: Date,
): PaymentReport {
  return {
    ...{ key: reportKeyOf(provider, key), digest, is_ours, order_id: null },
    notifications: notifications
      .filter(({ fact }) => fact.kind !== 'nothing')
      .map((one) => ({ ...one, order_number: recordedNumber(one.order_number) })),
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

/**
 * Returns a handler for the request of a platform, whose command id no other attempt uses (src/areas/payments/README.md#payment-callbacks).
 * It decides on cached state first, appends once and waits for no document. A stream that is not cached is assumed to be
 * new, because a payment is usually the first report of its transaction. Where it is not, the append is refused, and the command
 * is decided again on a fresh read.
 */
function makeUrgent(handler: CommandHandler): CommandHandler {
  return {
    load: (aggregate, id, load = 'remembered') => handler.load(aggregate, id, load),
    handle: (target, command, context, options) =>
      handler.handle(target, command, context, {
        ...options,
        ...{ isUrgent: true, load: 'new', appendTries: 1 },
      }),
  };
}

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

/** Reports callbacks to the operators. */
export interface CallbackNotices extends AcceptNotices {
  /** Reports a refused or unverifiable callback. @param reason the problem */
  readonly onRefused: (provider: PaymentProviderName, reason: string) => void;
}

/**
 * Accepts a callback of a payment platform (src/areas/payments/README.md#callbacks): verifies it, makes its acceptance durable and
 * settles it. If the settlement of a new callback fails or exceeds its time, a reaction does it.
 * @throws StoreUnavailable, Overloaded: the platform must send it again
 */
export function makeReceivePaymentCallback(
  deps: Pick<CallbackNotices, 'onRefused'> &
    Pick<PaymentDeps, 'paymentProviders' | 'clock'> & {
      readonly acceptCallback: AcceptCallback;
    },
) {
  const { paymentProviders, acceptCallback, onRefused, clock } = deps;
  const turns = makeCallbackTurns({ clock });
  return async (
    input: {
      readonly name: PaymentProviderName;
      readonly callback: PaymentCallback;
      /** The sender: its address, or the network of it. */
      readonly client: string;
    },
    context: CommandContext,
  ): Promise<CallbackOutcome> => {
    const { name, callback, client } = input;
    const provider = paymentProviders.get(name);
    if (callback.method === 'GET' && (callback.query === '' || platformTerms(name).get === undefined)) {
      return { kind: 'shown' };
    }
    if (provider === undefined) return { kind: 'not_configured' };
    const bytes = callback.body.length + callback.query.length;
    const verification = await turns.take(client, bytes, () => provider.verify(callback));
    switch (verification.kind) {
      case 'refused':
        turns.refused(client, bytes);
        onRefused(name, verification.reason);
        return { kind: 'refused' };
      case 'unavailable':
        turns.refused(client, bytes);
        onRefused(name, verification.problem);
        return { kind: 'unavailable' };
      case 'verified':
        if (callback.method === 'GET' && provider.get === 'shows') return { kind: 'shown' };
        await acceptCallback(name, verification.callback, callback.receivedAt, context);
        return { kind: 'acknowledged', acknowledgement: provider.acknowledgement };
    }
  };
}
