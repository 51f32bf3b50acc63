import { type MadeReference, checkoutAggregate, isPaymentMade } from '../../domain/checkout/checkout.js';
import type { PaymentNotification } from '../../domain/fact.js';
import type { PaymentProviderName } from '../../domain/payment.js';
import type { Applicable, TransactionReport } from '../../domain/transaction/fold.js';
import type { PaymentDeps } from '../../deps.js';

/**
 * Makes what returns the payments that the service made for an order, where a payment is applicable and a report of its transaction
 * names what was paid (src/areas/payments/platforms/README.md#identity-of-a-payment). A platform without credentials makes nothing for the
 * service, and costs no read. The process that made a payment has it cached; any other answer is read again.
 */
export function makeMadePayments({ handler, paymentMakers }: Pick<PaymentDeps, 'handler' | 'paymentMakers'>) {
  return async (
    provider: PaymentProviderName,
    { orderId, reports: applicable }: Applicable,
    reports: readonly TransactionReport[],
  ) => {
    if (!applicable.some(({ notifications }) => notifications.some(isPaid)) || !paymentMakers.has(provider))
      return [];
    const named = paidReferences(reports);
    if (named.length === 0) return [];
    const { state: cached } = await handler.load(checkoutAggregate, orderId, 'remembered');
    const isKnown = named.every((reference) => isPaymentMade(cached.made, { provider, reference }));
    return isKnown ? cached.made : (await handler.load(checkoutAggregate, orderId, 'latest')).state.made;
  };
}

/**
 * Returns whether the fact is about a payment that this service did not create. If it created none at the platform, the
 * order's number alone decides, because a shop created the payment. Stripe reports one payment by its session and by its intent, which
 * names no session, so the other reports of the transaction decide on such a fact.
 * @param reports all reports of the transaction, also those that the order knows and those that an operator dismissed
 */
export function isAnotherPayment(
  notification: PaymentNotification,
  provider: PaymentProviderName,
  made: readonly MadeReference[],
  reports: readonly TransactionReport[],
): boolean {
  if (!isPaid(notification) || !made.some((one) => one.provider === provider)) return false;
  const isMade = (reference: string) => isPaymentMade(made, { provider, reference });
  if (notification.reference !== undefined) return !isMade(notification.reference);
  const named = paidReferences(reports);
  return named.length > 0 && !named.some(isMade);
}

/** Returns what the reports of payments name. Those of another account decide nothing. */
function paidReferences(reports: readonly TransactionReport[]): readonly string[] {
  return reports
    .filter(({ is_ours: isOurs }) => isOurs)
    .flatMap(({ notifications }) => notifications.filter(isPaid))
    .flatMap(({ reference }) => (reference === undefined ? [] : [reference]));
}

function isPaid({ fact }: PaymentNotification): boolean {
  return fact.kind === 'paid';
}
