import { stepContext } from '../../event-sourcing/deciding/ids.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { orderNumber } from '../../domain/order/number.js';
import { invalid } from '../../domain/invalid-request.js';
import type { PaymentProviderName } from '../../domain/payment.js';
import type { VerifiedCallback } from '../../integrations/payments/payment-provider.js';
import type { PaymentMaker } from '../../integrations/payments/payment-maker.js';
import type { QueryingMaker } from '../../integrations/payments/queried-payment.js';
import type { Deps } from '../deps.js';
import { isRejection, rejectUseCase } from '../shared/rejections.js';
import { askPlatform } from './ask-platform.js';

export interface ReconcileInput {
  readonly provider: PaymentProviderName;
  /** Orders that were placed in this period. */
  readonly from: Date;
  readonly to: Date;
  /** `next` of the call before; null for the first. */
  readonly after: string | null;
}

export interface Reconciled {
  /** Orders without a payment here, whose state the platform was asked for. */
  readonly asked: number;
  /** Those about which the platform reported facts. */
  readonly reported: number;
  /** Orders of which the platform told nothing, because it refused or failed. The next run asks for them again. */
  readonly failed: readonly string[];
  /** The place from which the next call goes on; null at the end. */
  readonly next: string | null;
}

/**
 * Asks a platform for the state of each order of a period that has no payment here. What it answers is a report like a
 * callback's, so a known one changes nothing, and one that differs goes to review. A call looks at 100 orders at most, and
 * begins no question after 40 s. One order that the platform cannot tell stops no other.
 * @throws CommandRejected invalid_request, payment_not_offered, platform_unavailable: the platform told nothing
 */
export type ReconcilePayments = (input: ReconcileInput, context: CommandContext) => Promise<Reconciled>;

/** Accepts what a query found, as it accepts a callback. @throws StoreUnavailable */
export type AcceptReport = (
  provider: PaymentProviderName,
  report: VerifiedCallback,
  context: CommandContext,
) => Promise<void>;

const pageMax = 100;
const longestMs = 40_000;
const failedMax = 5;
/** An order with another status has a payment, or had one. */
const unpaid: ReadonlySet<string> = new Set(['created', 'pending', 'failed', 'expired', 'canceled']);

/** Returns whether the error is the platform's, about one order. */
function isOfPlatform(error: unknown): boolean {
  return isRejection(error, 'platform_unavailable') || isRejection(error, 'payment_refused');
}

export function canBeQueried(maker: PaymentMaker): maker is QueryingMaker {
  return 'query' in maker;
}

export function makeReconcilePayments({
  orders,
  paymentMakers,
  clock,
  onFailure,
  acceptReport,
}: Pick<Deps, 'orders' | 'paymentMakers' | 'clock' | 'onFailure'> & {
  readonly acceptReport: AcceptReport;
}): ReconcilePayments {
  return async ({ provider, from, to, after }, context) => {
    if (!(from < to)) invalid('to', 'must be after from', 'too_small');
    const maker = requireQueried(provider);
    const start = after === null ? {} : { after };
    const page = await orders.placedIn({ from, to }, { limit: pageMax, ...start });
    const waiting = page.filter((order) => order.provider === provider && unpaid.has(order.status));
    const ids = waiting.map(({ id }) => id);
    const told = await askEach(ids, (id) => reconcile(maker, id, context));
    const last = page.length < pageMax ? null : (page.at(-1)?.id ?? null);
    // The next call begins after the last order that this one asked for.
    return { ...told, next: told.asked === ids.length ? last : (ids[told.asked - 1] ?? after) };
  };

  /** Asks for one order after the other, until the time is over or too many failed. */
  async function askEach(
    ids: readonly string[],
    ask: (id: string) => Promise<boolean>,
  ): Promise<Omit<Reconciled, 'next'>> {
    const endMs = clock.now().getTime() + longestMs;
    const failed: string[] = [];
    let [asked, reported] = [0, 0];
    for (const id of ids) {
      // A platform that limits the rate tells nothing of the next orders either.
      if (clock.now().getTime() > endMs || failed.length >= failedMax) break;
      asked += 1;
      try {
        if (await ask(id)) reported += 1;
      } catch (error) {
        if (!isOfPlatform(error)) throw error;
        failed.push(id);
        // It told nothing of any order: it is away, or its credentials are wrong.
        if (failed.length === asked && asked >= Math.min(failedMax, ids.length)) throw error;
      }
    }
    return { asked, reported, failed };
  }

  function requireQueried(provider: PaymentProviderName): QueryingMaker {
    const maker = paymentMakers.get(provider);
    if (maker !== undefined && canBeQueried(maker)) return maker;
    return rejectUseCase(
      'payment_not_offered',
      `the service cannot ask ${provider} for the state of an order`,
    );
  }

  /** Returns whether the platform reported anything. */
  async function reconcile(maker: QueryingMaker, orderId: string, context: CommandContext): Promise<boolean> {
    const { provider } = maker;
    const queried = await askPlatform(
      { provider, work: 'tell the state of an order' },
      () => maker.query(orderNumber(orderId)),
      onFailure,
    );
    if (queried.kind === 'unknown') return false;
    await acceptReport(provider, queried.report, stepContext(context, orderId));
    return true;
  }
}
