import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../event-sourcing/deciding/ids.js';
import type { HandleOptions } from '../../event-sourcing/deciding/command-handler.js';
import {
  type FactOutcome,
  orderAggregate,
  outcomeIn,
  outcomesIn,
  type PlacedOrder,
  type ReportedFact,
} from '../../domain/order/order.js';
import { platformOf } from '../../domain/order/events.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import type { Disposition, PaymentNotification } from '../../domain/payment.js';
import type { PaymentReport } from '../../domain/transaction/events.js';
import {
  type Due,
  dueAt,
  type TransactionReport,
  type TransactionState,
} from '../../domain/transaction/status.js';
import { transactionAggregate } from '../../domain/transaction/transaction.js';
import { isAnotherPayment, makeMadePayments } from './made-payments.js';
import { notificationName, reportName } from '../../domain/payment-ids.js';

/** A verified report, before its acceptance. */
export type NewReport = Omit<PaymentReport, 'order_id'>;

/** A report in the stream of its transaction. */
export interface AcceptedReport {
  readonly revision: number;
  readonly isNew: boolean;
  readonly isConflict: boolean;
}

/**
 * Accepts reports in the stream of their transaction, and tells them to their order (docs/design.md#settling). Both steps
 * are idempotent, so several processes may do them, and one process completes the work of another that crashed.
 * @throws StoreUnavailable, Overloaded
 */
export interface SettlePayment {
  /** Appends the report, unless its key is known. @throws CommandRejected transaction_full */
  accept(
    transaction: string,
    report: NewReport,
    context: CommandContext,
    options?: SettleOptions,
  ): Promise<AcceptedReport>;
  /** Tells the order what the event at this revision makes due. */
  tell(transaction: string, revision: number, context: CommandContext, pace?: Pace): Promise<void>;
  /** Says whether an order has not learned what the event makes due. */
  isOwed(transaction: string, revision: number): Promise<boolean>;
  /** Says whether an order has room for a report that waits, after the reports that its link would release first. */
  hasRoom(orderId: string, transaction: string, revision: number): Promise<boolean>;
  /** Derives the outcome of a report from its order; null while it waits. */
  outcomeOf(
    transaction: string,
    revision: number,
  ): Promise<{ readonly disposition: Disposition | null; readonly orderId: string | null }>;
  /** Appends the facts to the order in one append. Returns what the order made of each. */
  tellOrder(
    orderId: string,
    facts: readonly ReportedFact[],
    context: CommandContext,
    pace?: Pace,
  ): Promise<readonly FactOutcome[]>;
  /** Returns an order; null where it does not exist. */
  placedOrder(orderId: string, pace?: Pace): Promise<PlacedOrder | null>;
}

/**
 * `urgent` is for the request of a platform, whose command id no other attempt uses: it decides on cached state first and
 * waits for no document (docs/design.md#payment-callbacks). `written` reads every stream and waits for all documents.
 */
export type Pace = 'urgent' | 'written';

export interface SettleOptions {
  readonly pace?: Pace;
  /** The order that the report belongs to where its number names none. */
  readonly orderId?: string | null;
}

export function makeSettlePayment({
  handler,
  paymentMakers,
}: Pick<Deps, 'handler' | 'paymentMakers'>): SettlePayment {
  const madePayments = makeMadePayments({ handler, paymentMakers });
  return { accept, tell, isOwed, hasRoom, outcomeOf, tellOrder, placedOrder };

  async function accept(
    id: string,
    report: NewReport,
    context: CommandContext,
    { pace = 'written', orderId = null }: SettleOptions = {},
  ): Promise<AcceptedReport> {
    const order_id = (await namedOrder(report, pace)) ?? orderId;
    // A payment is usually the first report of its transaction, so its stream is assumed to be new.
    const isFirst = pace === 'urgent' && report.told.some(({ fact }) => fact.kind === 'paid');
    const { events } = await handler.handle(
      { aggregate: transactionAggregate, id },
      { type: 'Report', report: { ...report, order_id } },
      context,
      {
        ...optionsOf(pace),
        ...(isFirst ? { load: 'new' } : {}),
        ...(pace === 'urgent' ? { appendTries: 1 } : {}),
      },
    );
    const { reports } = await transaction(id, pace);
    const revision = reports.find(({ key }) => key === report.key)?.revision;
    if (revision === undefined) throw new Error('an accepted report is not in its stream');
    const types = events.map(({ type }) => type);
    return {
      revision,
      isNew: types.includes('PaymentReported'),
      isConflict: types.includes('PaymentConflicted'),
    };
  }

  async function tell(
    id: string,
    revision: number,
    context: CommandContext,
    pace: Pace = 'written',
  ): Promise<void> {
    const state = await transaction(id, pace);
    const due = dueAt(state, revision);
    if (due === null) return;
    const facts = await dueFacts(id, due, state);
    const outcomes = await tellOrder(due.orderId, facts, stepContext(context, `tell/${revision}`), pace);
    for (const { revision: report } of due.reports.filter(isRefused(id, facts, outcomes))) {
      const step = stepContext(context, `hold/${report}`);
      await handler.handle(
        { aggregate: transactionAggregate, id },
        { type: 'Hold', report },
        step,
        optionsOf(pace),
      );
    }
  }

  async function isOwed(id: string, revision: number): Promise<boolean> {
    const state = await transaction(id);
    const due = dueAt(state, revision);
    if (due === null) return false;
    const order = await existingOrder(due.orderId);
    const reports = due.reports.filter(({ held }) => held !== 'order_full');
    const facts = await dueFacts(id, { ...due, reports }, state);
    return facts.map((fact) => outcomeIn(order, fact)).some(isOpen);
  }

  async function hasRoom(orderId: string, id: string, revision: number): Promise<boolean> {
    const state = await transaction(id);
    const link = { order_id: orderId, at: Infinity };
    const due = state.link === null ? dueAt({ ...state, link }, Infinity) : null;
    if (due === null) return true;
    const facts = await dueFacts(id, due, state);
    const isFull = isRefused(id, facts, outcomesIn(await existingOrder(orderId), facts));
    return !due.reports.some((report) => report.revision === revision && isFull(report));
  }

  async function outcomeOf(id: string, revision: number) {
    const state = await transaction(id);
    const report = state.reports.find((one) => one.revision === revision);
    if (report?.decision?.action === 'dismiss') return { disposition: 'ignored', orderId: null } as const;
    const orderId = report?.order_id ?? state.link?.order_id ?? null;
    if (report === undefined || orderId === null) return { disposition: null, orderId: null };
    const order = await existingOrder(orderId);
    const isOther = orderId !== state.link?.order_id;
    const facts = await dueFacts(id, { orderId, isOther, reports: [report] }, state);
    const outcomes = facts.map((fact) => outcomeIn(order, fact));
    return { disposition: mainDisposition(outcomes), orderId };
  }

  async function dueFacts(
    id: string,
    due: Due,
    { reports }: TransactionState,
  ): Promise<readonly ReportedFact[]> {
    const provider = platformOf(id);
    const made = await madePayments(provider, due, reports);
    return factsOf(id, due, (told) => isAnotherPayment(told, provider, made, reports));
  }

  async function tellOrder(
    orderId: string,
    facts: readonly ReportedFact[],
    context: CommandContext,
    pace: Pace = 'written',
  ): Promise<readonly FactOutcome[]> {
    const { state, revision } = await handler.load(orderAggregate, orderId, loadOf(pace));
    if (state.status === 'absent') throw new Error('an order that a report belongs to is gone');
    const known = facts.map((fact) => outcomeIn(state, fact));
    if (!known.some(isOpen)) return known;
    // A repetition after a crash may tell less, so the command id contains the revision that it was decided on.
    const step = stepContext(context, `${orderId}/${revision}`);
    await handler.handle(
      { aggregate: orderAggregate, id: orderId },
      { type: 'Report', reports: facts },
      step,
      optionsOf(pace),
    );
    const order = await existingOrder(orderId, pace);
    return facts.map((fact) => outcomeIn(order, fact));
  }

  async function namedOrder({ told }: NewReport, pace: Pace): Promise<string | null> {
    const [number] = told.map(({ order_number }) => order_number);
    const orderId = parseOrderNumber(number ?? '');
    return orderId === null || (await placedOrder(orderId, pace)) === null ? null : orderId;
  }

  async function existingOrder(orderId: string, pace?: Pace): Promise<PlacedOrder> {
    const order = await placedOrder(orderId, pace);
    if (order === null) throw new Error('an order that a report belongs to is gone');
    return order;
  }

  async function placedOrder(orderId: string, pace: Pace = 'written'): Promise<PlacedOrder | null> {
    const { state } = await handler.load(orderAggregate, orderId, loadOf(pace));
    return state.status === 'placed' ? state : null;
  }

  async function transaction(id: string, pace: Pace = 'written'): Promise<TransactionState> {
    return (await handler.load(transactionAggregate, id, loadOf(pace))).state;
  }
}

/** What this process appended or read is cached, and a request's command decides again where that was stale. */
function loadOf(pace: Pace): 'latest' | 'remembered' {
  return pace === 'urgent' ? 'remembered' : 'latest';
}

function optionsOf(pace: Pace): HandleOptions {
  return pace === 'urgent' ? { isUrgent: true, load: 'remembered' } : {};
}

function factsOf(
  transaction: string,
  { isOther, reports }: Due,
  isAnother: (told: PaymentNotification) => boolean,
): readonly ReportedFact[] {
  const provider = platformOf(transaction);
  return reports.flatMap((report) =>
    report.told.map((told, index): ReportedFact => {
      const { fact, transaction_id, at } = told;
      const ofReport = report.is_ours ? null : 'merchant';
      const ofFact = isAnother(told) ? 'another_payment' : null;
      return {
        callback: factName(transaction, report, index),
        provider,
        transactionId: transaction_id,
        mismatch: isOther ? 'transaction_of_another_order' : (ofReport ?? ofFact),
        ...{ fact, at: new Date(at ?? report.received_at) },
      };
    }),
  );
}

/** An inbox names its notifications, which earlier releases may have told under this name. */
function factName(transaction: string, { key, revision }: TransactionReport, index: number): string {
  return key.includes('.') ? key : notificationName(reportName(transaction, revision), index);
}

function isRefused(
  transaction: string,
  facts: readonly ReportedFact[],
  outcomes: readonly FactOutcome[],
): (report: TransactionReport) => boolean {
  return (report) =>
    report.told.some((_, index) => {
      const name = factName(transaction, report, index);
      return outcomes[facts.findIndex(({ callback }) => callback === name)] === 'full';
    });
}

function isOpen(outcome: FactOutcome): boolean {
  return outcome === 'owed' || outcome === 'full';
}

const rank = ['mismatch', 'applied', 'already_applied'] as const;

/** Returns the most important outcome; null where the order has not learned the report, or has no room for it. */
function mainDisposition(outcomes: readonly FactOutcome[]): Disposition | null {
  if (outcomes.some(isOpen)) return null;
  return rank.find((disposition) => outcomes.includes(disposition)) ?? 'ignored';
}
