import type { PaymentDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import { invalid } from '../../../../validation/invalid-request.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import { orderAggregate, type PlacedOrder, unusedPayments } from '../../domain/order/order.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import type { Disposition } from '../../domain/payment.js';
import { rejectPayment } from '../../domain/transaction/rejections.js';
import type { PaymentAction } from '../../domain/payment.js';
import { checkText } from '../../../../validation/text.js';
import { reportAt, transactionAggregate } from '../../domain/transaction/transaction.js';
import {
  factName,
  ownStreamId,
  parsePaymentId,
  reportName,
  transactionStreamId,
} from '../../domain/payment-ids.js';
import { sealPaymentNote } from '../callbacks/payment-notes.js';
import { platformOf } from '../../domain/order/events.js';
import type { PaymentReports } from '../callbacks/payment-reports.js';

export interface ResolvePaymentInput {
  /** A pending report, or a mismatch in review: see `parsePaymentId`. */
  readonly id: string;
  readonly action: PaymentAction;
  /** The order that a report is applied to. */
  readonly orderId: string | null;
  /** Why: 1 to 1,000 characters. */
  readonly note: string;
}

/** The outcome of a decision. `orderId`: the order that the payment was settled with. */
export interface PaymentResolution {
  readonly id: string;
  readonly action: PaymentAction;
  readonly orderId: string | null;
  readonly disposition: Disposition;
}

/**
 * Settles a payment that no rule settles by an operator's decision (src/areas/payments/README.md#settling). The decision is durable
 * before it takes effect. The same decision again gives the same reply; a later, different one is refused.
 * @throws CommandRejected invalid_request, payment_callback_not_found, payment_callback_not_held,
 * payment_callback_resolved, payment_callback_unreadable, payment_callback_full, order_not_found,
 * review_not_open, review_resolved, review_not_applicable
 */
export type ResolvePayment = (
  input: ResolvePaymentInput,
  context: CommandContext,
) => Promise<PaymentResolution>;

type Decision = Omit<ResolvePaymentInput, 'id'>;

export function makeResolvePayment(
  deps: Pick<PaymentDeps, 'handler' | 'sealer' | 'digests'> & { readonly paymentReports: PaymentReports },
): ResolvePayment {
  const { handler, paymentReports } = deps;

  return async ({ id, ...decided }, context) => {
    const { stream, revision, index } = parsePaymentId(id) ?? notFound();
    const decision = { ...decided, note: checkText(decided.note, 'note', 1_000) };
    if (decision.action === 'dismiss' && decision.orderId !== null) {
      invalid('order_id', 'must be left out: it is for what is applied', 'not_allowed');
    }
    if (index !== null) return resolveReview(id, await ordersOf(stream, revision, index), decision, context);
    return resolveReport(stream, revision, decision, context);
  };

  async function resolveReport(
    stream: string,
    revision: number,
    { action, orderId, note }: Decision,
    context: CommandContext,
  ): Promise<PaymentResolution> {
    if (action === 'apply' && orderId === null) invalid('order_id', 'is missing', 'missing');
    const order = orderId === null ? null : await requireRoom(orderId, stream, revision);
    const id = reportName(stream, revision);
    const sealed = await sealPaymentNote(deps, { paymentId: id, buyerId: order?.userId ?? null }, note);
    const resolution = { report: revision, action, order_id: orderId, ...sealed };
    const target = { aggregate: transactionAggregate, id: stream };
    await handler.handle(target, { type: 'Resolve', resolution }, stepContext(context, 'resolve'));
    if (action === 'dismiss') return { id, action, orderId: null, disposition: 'ignored' };
    const applied = await paymentReports.apply(stream, 'link', stepContext(context, 'apply'));
    return { id, action, orderId, disposition: applied.get(revision) ?? 'ignored' };
  }

  /** A decided report is in no list, so what the order would refuse is not decided on. */
  async function requireRoom(orderId: string, stream: string, revision: number): Promise<PlacedOrder> {
    const order = await paymentReports.placedOrder(orderId);
    if (order === null) return rejectOrder('order_not_found', 'there is no such order');
    if (await paymentReports.hasRoom(orderId, stream, revision)) return order;
    return rejectPayment(
      'payment_callback_full',
      'the order keeps no more reports; decide on what waits of it in review, or dismiss this',
    );
  }

  async function resolveReview(
    name: string,
    orderIds: readonly (string | null)[],
    { action, orderId: named, note }: Decision,
    context: CommandContext,
  ): Promise<PaymentResolution> {
    const { orderId, order } = await reviewedOrder(name, orderIds);
    if (named !== null && named !== orderId)
      invalid('order_id', 'is another than the order in review', 'not_allowed');
    const sealed = await sealPaymentNote(deps, { paymentId: name, buyerId: order.userId }, note);
    const command = { type: 'ResolveReview', callback: name, action, note: sealed } as const;
    await handler.handle({ aggregate: orderAggregate, id: orderId }, command, stepContext(context, 'review'));
    return { id: name, action, orderId, disposition: action === 'apply' ? 'applied' : 'ignored' };
  }

  /** Returns the orders that may have found the fact of a report a mismatch. */
  async function ordersOf(
    stream: string,
    revision: number,
    index: number,
  ): Promise<readonly (string | null)[]> {
    const { state } = await handler.load(transactionAggregate, stream);
    const report = reportAt(state, revision);
    const { transaction_id: of, order_number: number } = report.notifications[index] ?? notFound();
    if (report.is_forwarded !== true) return [report.order_id, state.link?.order_id ?? null];
    const own = ownStreamId(platformOf(stream), factName(stream, report, index));
    const transaction = of === null ? own : transactionStreamId(platformOf(stream), of);
    const links = [transaction, own].map((id) => handler.load(transactionAggregate, id));
    const linked = (await Promise.all(links)).map(({ state: { link } }) => link?.order_id ?? null);
    return [parseOrderNumber(number ?? ''), ...linked];
  }

  async function reviewedOrder(name: string, orderIds: readonly (string | null)[]) {
    for (const orderId of orderIds) {
      const order = orderId === null ? null : await paymentReports.placedOrder(orderId);
      if (orderId !== null && order !== null && isNamedIn(order, name)) return { orderId, order };
    }
    return rejectOrder('review_not_open', 'no review with this id is open');
  }
}

/** Returns whether a mismatch, a payment that bought nothing, or a decision of the order has this name. */
function isNamedIn(order: PlacedOrder, name: string): boolean {
  const waiting = [...order.mismatches, ...unusedPayments(order)];
  return waiting.some(({ id }) => id === name) || order.resolved.has(name);
}

function notFound(): never {
  return rejectPayment('payment_callback_not_found');
}
