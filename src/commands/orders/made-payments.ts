import { checkoutAggregate, isPaymentMade, type MadeReference } from '../../domain/checkout/checkout.js';
import type { PaymentNotification, PaymentProviderName } from '../../domain/payment.js';
import type { Due } from '../../domain/transaction/status.js';
import type { Deps } from '../deps.js';

/** Returns the payments that the service made for an order, where a report that is due names what was paid. */
export type MadePayments = (provider: PaymentProviderName, due: Due) => Promise<readonly MadeReference[]>;

/**
 * Reads what the service made (docs/design.md#identity-of-a-payment). A platform without credentials makes nothing for the
 * service, and costs no read. The process that made a payment has it cached; any other answer is read again.
 */
export function makeMadePayments({
  handler,
  paymentMakers,
}: Pick<Deps, 'handler' | 'paymentMakers'>): MadePayments {
  return async (provider, { orderId, reports }) => {
    const named = reports.flatMap(({ told }) => told.map(paidReference)).filter((name) => name !== null);
    if (named.length === 0 || !paymentMakers.has(provider)) return [];
    const { state: cached } = await handler.load(checkoutAggregate, orderId, 'remembered');
    const isKnown = named.every((reference) => isPaymentMade(cached.made, { provider, reference }));
    return isKnown ? cached.made : (await handler.load(checkoutAggregate, orderId)).state.made;
  };
}

/** Without a payment that the service made at the platform, the order's number alone decides: a shop made the payment. */
export function isAnotherPayment(
  told: PaymentNotification,
  provider: PaymentProviderName,
  made: readonly MadeReference[],
): boolean {
  const reference = paidReference(told);
  if (reference === null || !made.some((one) => one.provider === provider)) return false;
  return !isPaymentMade(made, { provider, reference });
}

function paidReference({ fact, reference }: PaymentNotification): string | null {
  return fact.kind === 'paid' ? (reference ?? null) : null;
}
