import type { PaymentDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import { invalid } from '../../../../validation/invalid-request.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import { orderAggregate, type PlacedOrder, unusedPayments } from '../../domain/order/order.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import type { Disposition } from '../../domain/payment.js';
import { paymentCallbackAggregate } from '../../domain/payment-callback/payment-callback.js';
import { rejectPayment } from '../../domain/transaction/rejections.js';
import type { PaymentAction } from '../../domain/payment.js';
import { checkText } from '../../../../validation/text.js';
import { reportAt, transactionAggregate } from '../../domain/transaction/transaction.js';
import {
  notificationName,
  ownStreamId,
  parsePaymentId,
  reportName,
  transactionStreamId,
} from '../../domain/payment-ids.js';
import { sealPaymentNote } from '../callbacks/payment-notes.js';
import type { SettlePayment } from '../callbacks/settle-payment.js';

export interface ResolvePaymentInput {
  /** A report that waits, or a mismatch in review: see `parsePaymentId`. */
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
 * Settles a payment that no rule settles by an operator's decision (docs/design.md#settling). The decision is durable
 * before it takes effect. The same decision again gives the same reply; a later, different one is refused.
 * @throws CommandRejected invalid_request, payment_callback_not_found, payment_callback_not_held,
 * payment_callback_resolved, payment_callback_unreadable, payment_callback_full, order_not_found,
 * review_not_open, review_resolved, review_not_applicable, transaction_of_another_order
 */
export type ResolvePayment = (
  input: ResolvePaymentInput,
  context: CommandContext,
) => Promise<PaymentResolution>;

type Decision = Omit<ResolvePaymentInput, 'id'>;

/** The transaction of a fact, and the orders that may have found it a mismatch. */
interface Places {
  readonly transaction: string | null;
  readonly orderIds: readonly (string | null)[];
}

export function makeResolvePayment(
  deps: Pick<PaymentDeps, 'handler' | 'sealer' | 'digests'> & { readonly settlePayment: SettlePayment },
): ResolvePayment {
  const { handler, settlePayment } = deps;

  return async ({ id, ...decided }, context) => {
    const { stream, revision, index } = parsePaymentId(id) ?? notFound();
    const decision = { ...decided, note: checkText(decided.note, 'note', 1_000) };
    if (decision.action === 'dismiss' && decision.orderId !== null) {
      invalid('order_id', 'must be left out: it is for what is applied', 'not_allowed');
    }
    if (index !== null) return resolveReview(id, await placesOf(stream, revision, index), decision, context);
    return revision === null ? notFound() : resolveReport(stream, revision, decision, context);
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
    const told = await settlePayment.tell(stream, 'link', stepContext(context, 'settle'));
    return { id, action, orderId, disposition: told.get(revision) ?? 'ignored' };
  }

  /** A decided report is in no list, so what the order would refuse is not decided on. */
  async function requireRoom(orderId: string, stream: string, revision: number): Promise<PlacedOrder> {
    const order = await settlePayment.placedOrder(orderId);
    if (order === null) return rejectOrder('order_not_found', 'there is no such order');
    if (await settlePayment.hasRoom(orderId, stream, revision)) return order;
    return rejectPayment(
      'payment_callback_full',
      'the order keeps no more reports; decide on what waits of it in review, or dismiss this',
    );
  }

  async function resolveReview(
    name: string,
    { transaction, orderIds }: Places,
    { action, orderId: named, note }: Decision,
    context: CommandContext,
  ): Promise<PaymentResolution> {
    const { orderId, order } = await reviewedOrder(name, orderIds);
    if (named !== null && named !== orderId)
      invalid('order_id', 'is another than the order in review', 'not_allowed');
    const sealed = await sealPaymentNote(deps, { paymentId: name, buyerId: order.userId }, note);
    const command = { type: 'ResolveReview', callback: name, action, note: sealed } as const;
    // A refused decision writes nothing.
    const decided = orderAggregate.decider.decide(command, order);
    if (action === 'apply' && decided.length > 0 && transaction !== null) {
      // The link leads reports that name only the transaction to the order. Those that wait reach it before the decision,
      // so that it covers them, and so that after a crash the operator's repetition tells the rest.
      const target = { aggregate: transactionAggregate, id: transaction };
      await handler.handle(target, { type: 'Link', orderId }, stepContext(context, 'link'));
      await settlePayment.tell(transaction, 'link', stepContext(context, 'waiting'));
    }
    await handler.handle({ aggregate: orderAggregate, id: orderId }, command, stepContext(context, 'review'));
    return { id: name, action, orderId, disposition: action === 'apply' ? 'applied' : 'ignored' };
  }

  /** Returns where the fact of a report or a callback may have become a mismatch. */
  async function placesOf(stream: string, revision: number | null, index: number): Promise<Places> {
    if (revision !== null) {
      const { state } = await handler.load(transactionAggregate, stream);
      const { told, order_id } = reportAt(state, revision);
      if (told[index] === undefined) notFound();
      return { transaction: stream, orderIds: [order_id, state.link?.order_id ?? null] };
    }
    const { state } = await handler.load(paymentCallbackAggregate, stream);
    const { provider, notifications } = state.callback ?? notFound();
    const { transaction_id: of, order_number: number } = notifications[index] ?? notFound();
    const own = ownStreamId(provider, notificationName(stream, index));
    const transaction = of === null ? null : transactionStreamId(provider, of);
    const links = [transaction ?? own, own].map((id) => handler.load(transactionAggregate, id));
    const linked = (await Promise.all(links)).map(({ state: { link } }) => link?.order_id ?? null);
    return { transaction, orderIds: [parseOrderNumber(number ?? ''), ...linked, state.appliedTo] };
  }

  async function reviewedOrder(name: string, orderIds: Places['orderIds']) {
    for (const orderId of orderIds) {
      const order = orderId === null ? null : await settlePayment.placedOrder(orderId);
      if (orderId !== null && order !== null && isNamedIn(order, name)) return { orderId, order };
    }
    return rejectOrder('review_not_open', 'nothing waits for a decision under this name');
  }
}

/** Returns whether a mismatch, a payment that bought nothing, or a decision of the order has this name. */
function isNamedIn(order: PlacedOrder, name: string): boolean {
  const waiting = [...order.mismatches, ...unusedPayments(order)];
  return waiting.some(({ id }) => id === name) || order.resolved.has(name);
}

function notFound(): never {
  return rejectPayment('payment_callback_not_found', 'there is no such payment');
}
