import type { PaymentRejection } from '../../domain/transaction/rejections.js';
import type { PaymentDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { StoreUnavailable } from '../../../../event-sourcing/ports/errors.js';
import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import {
  type FactOutcome,
  orderAggregate,
  isKnown,
  outcomeIn,
  outcomesIn,
  type PlacedOrder,
  reportedFact,
  type ReportedFact,
} from '../../domain/order/order.js';
import { platformOf } from '../../domain/order/events.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import type { Disposition, PaymentProviderName } from '../../domain/payment.js';
import { factName, ownStreamId, transactionStreamId } from '../../domain/payment-ids.js';
import type { PaymentReport } from '../../domain/transaction/events.js';
import { type Due, dueAt, type TransactionState } from '../../domain/transaction/status.js';
import { transactionAggregate } from '../../domain/transaction/transaction.js';
import { isRejection } from '../../../shared/rejections.js';
import { isAnotherPayment, makeMadePayments } from '../orders/made-payments.js';

/** A report or a callback that is accepted. */
export interface Accepted {
  readonly isNew: boolean;
  readonly isConflict: boolean;
  /** Tells the order, as a reaction does too. Returns what has become of the report; null while it waits. */
  readonly settle: (context: CommandContext) => Promise<Disposition | null>;
}

export type SettlePayment = ReturnType<typeof makeSettlePayment>;

/**
 * Accepts reports in the stream of their transaction, and tells them to their order (docs/design.md#settling). Both steps
 * are idempotent, so several processes may do them, and one process completes the work of another that crashed. Each
 * function throws StoreUnavailable and Overloaded.
 */
export function makeSettlePayment({
  handler,
  paymentMakers,
}: Pick<PaymentDeps, 'handler' | 'paymentMakers'>) {
  const madePayments = makeMadePayments({ handler, paymentMakers });
  return { accept, isTold, tell, tellOrder, hasRoom, placedOrder };

  /**
   * Appends the report, unless its key is known. Without a transaction, or room in it, a report has a stream for itself.
   * @param report `order_id`: the order that it belongs to where its number names none
   */
  async function accept(
    provider: PaymentProviderName,
    report: PaymentReport,
    context: CommandContext,
  ): Promise<Accepted> {
    const named = report.told[0]?.transaction_id ?? null;
    const own = (): string => ownStreamId(provider, report.key);
    try {
      return await acceptIn(named === null ? own() : transactionStreamId(provider, named), report, context);
    } catch (error) {
      if (!isRejection<PaymentRejection>(error, 'transaction_full')) throw error;
      return acceptIn(own(), { ...report, is_excess: true }, stepContext(context, 'excess'));
    }
  }

  async function acceptIn(id: string, report: PaymentReport, context: CommandContext): Promise<Accepted> {
    const named = parseOrderNumber(report.told[0]?.order_number ?? '');
    const order_id = named === null || (await placedOrder(named)) === null ? report.order_id : named;
    const target = { aggregate: transactionAggregate, id };
    const command = { type: 'Report', report: { ...report, order_id } } as const;
    const types = (await handler.handle(target, command, context)).events.map(({ type }) => type);
    const accepted = (await transaction(id)).reports.find(({ key }) => key === report.key);
    if (accepted === undefined) throw new Error('an accepted report is not in its stream');
    const { revision, decision } = accepted;
    const untold = decision?.action === 'dismiss' ? 'ignored' : null;
    return {
      isNew: types.includes('PaymentReported'),
      isConflict: types.includes('PaymentConflicted'),
      settle: async (step) => (await tell(id, revision, step)).get(revision) ?? untold,
    };
  }

  /**
   * Says whether the cached streams show that the order knows what the event at this revision makes due. A later event
   * takes none of it back, so no read of the head is needed. False: only `tell` finds out.
   */
  async function isTold(id: string, at: number): Promise<boolean> {
    const { state, revision } = await handler.load(transactionAggregate, id, 'remembered');
    if (revision === null || revision < BigInt(at)) return false;
    const due = dueAt(state, at);
    if (due === null) return true;
    const { state: order } = await handler.load(orderAggregate, due.orderId, 'remembered');
    return due.reports.every((report) =>
      report.told.every((_, index) => isKnown(order, factName(id, report, index))),
    );
  }

  /**
   * Tells the order what the event at this revision makes due, or that of the link of the transaction. Returns what the
   * order made of the reports, by their revisions.
   */
  async function tell(
    id: string,
    at: number | 'link',
    context: CommandContext,
  ): Promise<ReadonlyMap<number, Disposition>> {
    const state = await transaction(id);
    const due = dueAt(state, at === 'link' ? (state.link?.at ?? -1) : at);
    const told = new Map<number, Disposition>();
    if (due === null) return told;
    const facts = await factsOf(id, due, state);
    const outcomes = await tellOrder(due.orderId, facts, context);
    for (const { revision: report } of due.reports) {
      const ofReport = outcomes.filter((_, index) => facts[index]?.report === report);
      if (ofReport.includes('owed'))
        throw new StoreUnavailable('the order changed while the service applied a payment report');
      if (!ofReport.includes('full')) told.set(report, mainDisposition(ofReport));
      else {
        const step = stepContext(context, `hold/${report}`);
        await handler.handle({ aggregate: transactionAggregate, id }, { type: 'Hold', report }, step);
      }
    }
    return told;
  }

  /** Says whether an order has room for a report that waits, after the reports that its link would release first. */
  async function hasRoom(orderId: string, id: string, revision: number): Promise<boolean> {
    const state = await transaction(id);
    const link = { order_id: orderId, at: Infinity };
    const due = state.link === null ? dueAt({ ...state, link }, Infinity) : null;
    if (due === null) return true;
    const facts = await factsOf(id, due, state);
    const outcomes = outcomesIn(await existingOrder(orderId), facts);
    return !facts.some(({ report }, index) => report === revision && outcomes[index] === 'full');
  }

  /** Appends the facts to the order in one append. Returns what the order made of each. */
  async function tellOrder(
    orderId: string,
    facts: readonly ReportedFact[],
    context: CommandContext,
  ): Promise<readonly FactOutcome[]> {
    const outcomes = async () => {
      const order = await existingOrder(orderId);
      return facts.map((fact) => outcomeIn(order, fact));
    };
    const known = await outcomes();
    if (!known.some((outcome) => outcome === 'owed' || outcome === 'full')) return known;
    const target = { aggregate: orderAggregate, id: orderId };
    await handler.handle(target, { type: 'Report', reports: facts }, context);
    return outcomes();
  }

  /** Returns the facts that are due, each with the revision of its report. */
  async function factsOf(
    id: string,
    due: Due,
    { reports }: TransactionState,
  ): Promise<readonly (ReportedFact & { readonly report: number })[]> {
    const provider = platformOf(id);
    const made = await madePayments(provider, due, reports);
    return due.reports.flatMap((report) =>
      report.told.map((told, index) => {
        const ofReport = report.is_ours ? null : 'merchant';
        const ofFact = isAnotherPayment(told, provider, made, reports) ? 'another_payment' : null;
        const mismatch = due.isOther ? 'transaction_of_another_order' : (ofReport ?? ofFact);
        const callback = factName(id, report, index);
        const fact = reportedFact(told, report.received_at, { callback, provider, mismatch });
        return { ...fact, report: report.revision };
      }),
    );
  }

  async function existingOrder(orderId: string): Promise<PlacedOrder> {
    const order = await placedOrder(orderId);
    if (order === null) throw new Error('an order that a report belongs to is gone');
    return order;
  }

  /** Returns an order; null where it does not exist. */
  async function placedOrder(orderId: string): Promise<PlacedOrder | null> {
    const { state } = await handler.load(orderAggregate, orderId);
    return state.status === 'placed' ? state : null;
  }

  async function transaction(id: string): Promise<TransactionState> {
    return (await handler.load(transactionAggregate, id)).state;
  }
}

const rank = ['mismatch', 'applied', 'already_applied'] as const;

/** Returns the most important outcome. */
function mainDisposition(outcomes: readonly FactOutcome[]): Disposition {
  return rank.find((disposition) => outcomes.includes(disposition)) ?? 'ignored';
}
