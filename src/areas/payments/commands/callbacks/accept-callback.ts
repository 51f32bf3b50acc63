import type { PaymentDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { StoreUnavailable } from '../../../../event-sourcing/ports/errors.js';
import { withTimeLimit } from '../../../../kit/time/time-limit.js';
import { isOrderNumber } from '../../domain/order/number.js';
import { reportKeyOf } from '../../domain/payment-ids.js';
import type { PaymentProviderName } from '../../domain/payment.js';
import type { PaymentReport } from '../../domain/transaction/events.js';
import type { VerifiedCallback } from '../../platforms/payment-provider.js';
import { makePaymentReports } from './payment-reports.js';
import { makeUrgent } from './urgent.js';

/**
 * Makes a verified callback durable, and applies it (src/areas/payments/README.md#callbacks). It resolves when the platform need not send
 * the callback again. If a new one cannot be applied in its time, a reaction does it. `isNew`: its key was not known.
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
  /** Reports a message that came again with other content. @param report the id of the first one's report */
  readonly onConflict: (report: string) => void;
  /** Reports a failure that the reply does not show. */
  readonly onFailure: (work: string, error: unknown) => void;
}

/** The limit of the one attempt to append (src/areas/payments/README.md#payment-callbacks): platforms wait 5 s. */
const appendMs = 3_000;
/** The time that the platform waits for the order, which a reaction would do as well. */
const applyMs = 1_500;

export function makeAcceptCallback({
  handler,
  paymentMakers,
  clock,
  onConflict,
  onFailure,
  underWay = new Set(),
}: AcceptNotices &
  Pick<PaymentDeps, 'handler' | 'paymentMakers' | 'clock'> & {
    /** See `makePaymentReports`. */
    readonly underWay?: Set<string>;
  }): AcceptCallback {
  const reports = makePaymentReports({ handler: makeUrgent(handler), paymentMakers });
  const exceeded = (): Error => new StoreUnavailable('the log has not answered in time');
  return async (name, verified, receivedAt, context) => {
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
  return number === null || isOrderNumber(number) ? number : 'foreign';
}
