import { type PaymentRejection, homeOf, transactionAggregate } from '../../domain/transaction/transaction.js';
import type { PaymentDeps } from '../../deps.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { StoreUnavailable } from '../../../../event-sourcing/ports/errors.js';
import { type PrepareFurther, stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import { checkoutAggregate } from '../../domain/checkout/checkout.js';
import {
  type FactOutcome,
  type PlacedOrder,
  type ReportedFact,
  clockSkewMs,
  isKnown,
  orderAggregate,
  outcomeIn,
  outcomesIn,
  reportedFact,
} from '../../domain/order/order.js';
import { platformOf } from '../../domain/order/events.js';
import {
  approvalName,
  factName,
  ownStreamId,
  parseOrderNumber,
  reportName,
  type Disposition,
  type PaymentProviderName,
} from '../../domain/payment.js';
import type { PaymentReport } from '../../domain/transaction/events.js';
import {
  type Applicable,
  type TransactionState,
  applicableAt,
  isOfOurs,
} from '../../domain/transaction/fold.js';
import { whenRejected } from '../../../shared/rejections.js';
import { isAnotherPayment, makeMadePayments } from './made-payments.js';

/** A report that is in its stream. */
interface Reported {
  /** `<stream>@<revision>` */
  readonly name: string;
  readonly isNew: boolean;
  readonly isConflict: boolean;
  /** Applies the report, as the reaction does too. Returns what has become of it; null while it is pending. */
  readonly apply: (context: CommandContext) => Promise<Disposition | null>;
}

export type PaymentReports = ReturnType<typeof makePaymentReports>;

/**
 * Holds reports in streams, and applies them to orders (docs/payments/resolving.md#states-of-a-report). Each step is
 * idempotent, so several processes may do it, and one process completes the work of another that crashed. Each function
 * throws StoreUnavailable and Overloaded.
 */
export function makePaymentReports(deps: Pick<PaymentDeps, 'handler' | 'paymentMakers'>) {
  const { handler, paymentMakers } = deps;
  const madePayments = makeMadePayments({ handler, paymentMakers });
  /** The streams whose reports requests of this process apply now. */
  const underWay = new Set<string>();
  return { underWay, streamOf, report, isReported, apply, isApplied, hasRoom, placedOrder };

  function streamOf(provider: PaymentProviderName, data: PaymentReport): string {
    return homeOf(provider, data).id;
  }

  /** Appends the report, unless its key is known. A transaction without room leaves it a stream for itself. */
  async function report(
    provider: PaymentProviderName,
    data: PaymentReport,
    context: CommandContext,
  ): Promise<Reported> {
    const { id, isForwarded } = homeOf(provider, data);
    const whenFull = whenRejected<PaymentRejection>('transaction_full')(() => {
      const excess = { ...data, is_excess: true } as const;
      return append(ownStreamId(provider, data.key), excess, stepContext(context, 'excess'));
    });
    return append(id, isForwarded ? { ...data, is_forwarded: true } : data, context).catch(whenFull);
  }

  async function append(id: string, data: PaymentReport, context: CommandContext): Promise<Reported> {
    const named = parseOrderNumber(data.notifications[0]?.order_number ?? '');
    const order_id = named !== null && (await placedOrder(named)) !== null ? named : null;
    const command = { type: 'Report', report: { ...data, order_id } } as const;
    const further = async (after: TransactionState, prepare: PrepareFurther) => {
      const revision = after.reports.find(({ key }) => key === data.key)?.revision ?? -1;
      const found = applicableAt(after, revision);
      // The checkout learns of an approval before the order does: a reaction takes what the order knows as applied.
      if (found === null) return null;
      if (namedIn(id, found).some(({ notification }) => notification.fact.kind === 'approved')) return null;
      const reports = await factsOf(id, found, after);
      return prepare(orderAggregate.at(found.orderId), { type: 'Report', reports }, context);
    };
    const handled = await handler.handle(transactionAggregate.at(id), command, context, { further });
    const types = handled.events.map(({ type }) => type);
    const reported = (await transaction(id)).reports.find(({ key }) => key === data.key);
    if (reported === undefined) throw new Error('a report is not in its stream');
    const { revision, decision } = reported;
    const unapplied = decision?.action === 'dismiss' ? 'ignored' : null;
    return {
      name: reportName(id, revision),
      isNew: types.includes('PaymentReported'),
      isConflict: types.includes('PaymentConflicted'),
      apply: async (step) => (await apply(id, revision, step)).get(revision) ?? unapplied,
    };
  }

  /** Says whether a report with this key was appended before. */
  async function isReported(provider: PaymentProviderName, data: PaymentReport): Promise<boolean> {
    const streams = [homeOf(provider, data).id, ownStreamId(provider, data.key)];
    const states = await Promise.all(streams.map(transaction));
    return states.some(({ reports }) => reports.some(({ key }) => key === data.key));
  }

  /**
   * Says whether the cached streams show that the order knows what the event at this revision makes applicable. A later
   * event takes none of it back, so no read of the head is needed. False: only `apply` finds out.
   */
  async function isApplied(id: string, at: number): Promise<boolean> {
    const { state, revision } = await handler.load(transactionAggregate, id, 'remembered');
    if (revision === null || revision < BigInt(at)) return false;
    const found = applicableAt(state, at);
    if (found === null) return !state.reports.some((one) => one.revision === at && one.is_forwarded === true);
    const { state: order } = await handler.load(orderAggregate, found.orderId, 'remembered');
    return namedIn(id, found).every(({ name }) => isKnown(order, name));
  }

  /**
   * Applies to the order what the event at this revision makes applicable, or that of the link of the transaction.
   * Returns what the order made of the reports, by their revisions.
   */
  async function apply(
    id: string,
    at: number | 'link',
    context: CommandContext,
  ): Promise<ReadonlyMap<number, Disposition>> {
    const state = await transaction(id);
    const applied = new Map<number, Disposition>();
    const found = applicableAt(state, at === 'link' ? (state.link?.at ?? -1) : at);
    if (found === null) {
      await forward(id, at, state, context);
      return applied;
    }
    await approve(id, found, context);
    const facts = await factsOf(id, found, state);
    const outcomes = await applyFacts(found.orderId, facts, context);
    for (const { revision } of found.reports) {
      const ofReport = outcomes.filter((_, index) => facts[index]?.report === revision);
      if (ofReport.includes('owed'))
        throw new StoreUnavailable('the order changed while the service applied a payment report');
      if (!ofReport.includes('full')) applied.set(revision, mainDisposition(ofReport));
      else {
        const hold = { type: 'Hold', report: revision } as const;
        const step = stepContext(context, `hold/${revision}`);
        await handler.handle(transactionAggregate.at(id), hold, step);
      }
    }
    return applied;
  }

  /** Reports each notification of a forwarded report where its transaction is, and applies it. */
  async function forward(
    id: string,
    at: number | 'link',
    { reports }: TransactionState,
    context: CommandContext,
  ): Promise<void> {
    const found = reports.filter(({ revision, is_forwarded }) => revision === at && is_forwarded === true);
    for (const { name: key, notification, of } of namedIn(id, { reports: found })) {
      const { digest, is_ours, received_at } = of;
      const data = { key, digest, is_ours, received_at, notifications: [notification], order_id: null };
      const step = stepContext(context, key);
      await (await report(platformOf(id), data, step)).apply(step);
    }
  }

  /** Tells the checkout of the order what the buyer approved. */
  async function approve(id: string, found: Applicable, context: CommandContext): Promise<void> {
    const provider = platformOf(id);
    for (const { name, notification, of } of namedIn(id, found)) {
      const { fact, reference, event } = notification;
      if (fact.kind !== 'approved' || reference === undefined || !of.is_ours) continue;
      const approval = event === undefined ? name : approvalName(provider, reference, event);
      const command = { type: 'Approve', approved: { provider, reference, approval } } as const;
      await handler.handle(checkoutAggregate.at(found.orderId), command, stepContext(context, approval));
    }
  }

  /** Says whether an order has room for a pending report, after the reports that its link would release first. */
  async function hasRoom(orderId: string, id: string, revision: number): Promise<boolean> {
    const state = await transaction(id);
    const link = { order_id: orderId, at: Infinity };
    const found = state.link === null ? applicableAt({ ...state, link }, Infinity) : null;
    if (found === null) return true;
    const facts = await factsOf(id, found, state);
    const outcomes = outcomesIn(await existingOrder(orderId), facts);
    return !facts.some((fact, index) => fact.report === revision && outcomes[index] === 'full');
  }

  /** Appends the facts to the order in one append. Returns what the order made of each. */
  async function applyFacts(
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
    await handler.handle(orderAggregate.at(orderId), { type: 'Report', reports: facts }, context);
    return outcomes();
  }

  /** Returns the applicable facts, each with the revision of its report. */
  async function factsOf(
    id: string,
    found: Applicable,
    state: TransactionState,
  ): Promise<readonly (ReportedFact & { readonly report: number })[]> {
    const provider = platformOf(id);
    const { reports } = state;
    const made = await madePayments(provider, found, reports);
    return namedIn(id, found).map(({ name: callback, notification, of }) => {
      const ofReport = isOfOurs(state, found.orderId, of, notification) ? null : 'merchant';
      const ofFact = isAnotherPayment(notification, provider, made, reports) ? 'another_payment' : null;
      const mismatch = found.isOther ? 'transaction_of_another_order' : (ofReport ?? ofFact);
      const latestMs = Date.parse(of.received_at) + clockSkewMs;
      const isTimely = notification.at !== null && Date.parse(notification.at) <= latestMs;
      const timed = { ...notification, at: isTimely ? notification.at : null };
      const fact = reportedFact(timed, of.received_at, { callback, provider, mismatch });
      return { ...fact, report: of.revision };
    });
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

/**
 * Applies what the requests of callbacks did not: every report, and the reports that an event releases. The process that
 * serves the request has its streams cached afterwards, so the reaction waits for it and reads nothing there. Otherwise its
 * commands read what is applicable, and append nothing where the order knows it.
 */
export function applyReports(reports: Pick<PaymentReports, 'underWay' | 'isApplied' | 'apply'>) {
  const { underWay, isApplied, apply } = reports;
  return on(transactionAggregate, ['PaymentReported', 'PaymentReportResolved'], {
    name: 'apply-payment-reports',
    isDue: async (id, { revision }) =>
      underWay.has(id) ? 'not-yet' : !(await isApplied(id, Number(revision))),
    run: (id, context, { revision }) => apply(id, Number(revision), context),
  });
}

/** Returns the notifications of reports in the stream, each with the name of its fact. */
function namedIn(id: string, { reports }: Pick<Applicable, 'reports'>) {
  return reports.flatMap((of) =>
    of.notifications.map((notification, index) => ({ name: factName(id, of, index), notification, of })),
  );
}

/** Returns the most important outcome. */
function mainDisposition(outcomes: readonly FactOutcome[]): Disposition {
  return (
    (['mismatch', 'applied', 'already_applied'] as const).find((one) => outcomes.includes(one)) ?? 'ignored'
  );
}
