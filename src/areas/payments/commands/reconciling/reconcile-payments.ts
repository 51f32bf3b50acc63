import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { invalid } from '../../../../validation/invalid-request.js';
import type { PaymentProviderName } from '../../domain/payment.js';
import type { PaymentMaker } from '../../platforms/payment-maker.js';
import type { ListingMaker, QueryingMaker } from '../../platforms/queried-payment.js';
import type { PaymentDeps } from '../../deps.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import type { Reconciled, ReconcilePeriod } from './reconcile-period.js';
import type { ReconcileOrders } from './reconcile-orders.js';
import type { ReconcileReports } from './reconcile-reports.js';

export interface ReconcileInput extends ReconcilePeriod {
  readonly provider: PaymentProviderName;
}

/**
 * Asks a platform for what its callbacks did not report in a period. What it answers is a report like a callback's, so a
 * known one changes nothing, and one that differs goes to review. A platform that lists its reports is asked for the list;
 * another one for the state of each order. A call begins no question after 40 s.
 * @throws CommandRejected invalid_request, payment_not_offered, payment_refused, platform_unavailable: the platform told
 * nothing
 */
export type ReconcilePayments = (input: ReconcileInput, context: CommandContext) => Promise<Reconciled>;

/** Returns whether the service can ask the platform what became of payments. */
export function canBeReconciled(maker: PaymentMaker): boolean {
  return canListReports(maker) || canBeQueried(maker);
}

function canBeQueried(maker: PaymentMaker): maker is QueryingMaker {
  return 'query' in maker;
}

function canListReports(maker: PaymentMaker): maker is ListingMaker {
  return 'listReports' in maker;
}

export function makeReconcilePayments({
  paymentMakers,
  reconcileOrders,
  reconcileReports,
}: Pick<PaymentDeps, 'paymentMakers'> & {
  readonly reconcileOrders: ReconcileOrders;
  readonly reconcileReports: ReconcileReports;
}): ReconcilePayments {
  return async ({ provider, ...period }, context) => {
    if (!(period.from < period.to)) invalid('to', 'must be after from', 'too_small');
    const maker = paymentMakers.get(provider);
    if (maker !== undefined && canListReports(maker)) return reconcileReports(maker, period, context);
    if (maker !== undefined && canBeQueried(maker)) return reconcileOrders(maker, period, context);
    return rejectUseCase('payment_not_offered', `the service cannot ask ${provider} what became of payments`);
  };
}
