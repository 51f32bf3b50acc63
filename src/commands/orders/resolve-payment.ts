import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../event-sourcing/deciding/ids.js';
import { invalid } from '../../domain/invalid-request.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import { orderAggregate, type PlacedOrder, unusedPayments } from '../../domain/order/order.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import type { Disposition } from '../../domain/payment-callback/status.js';
import {
  paymentCallbackAggregate,
  type PaymentCallbackState,
} from '../../domain/payment-callback/payment-callback.js';
import { rejectPaymentCallback } from '../../domain/payment-callback/rejections.js';
import type { PaymentNotification, PaymentAction } from '../../domain/payment.js';
import { checkText } from '../../domain/text.js';
import { transactionAggregate } from '../../domain/transaction/transaction.js';
import { notificationName, parsePaymentId, transactionStreamId } from './payment-ids.js';
import { sealPaymentNote } from './payment-notes.js';
import type { SettlePayment } from './settle-payment.js';

export interface ResolvePaymentInput {
  /** A held callback, or a mismatch in review: see `parsePaymentId`. */
  readonly id: string;
  readonly action: PaymentAction;
  /** The order that a held callback is applied to. */
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
 * payment_callback_resolved, payment_callback_unreadable, payment_callback_order_full, order_not_found,
 * review_not_open, review_resolved, review_not_applicable, transaction_of_another_order
 */
export type ResolvePayment = (
  input: ResolvePaymentInput,
  context: CommandContext,
) => Promise<PaymentResolution>;

type Received = Extract<PaymentCallbackState, { status: 'received' }>;
type Decision = Omit<ResolvePaymentInput, 'id'>;

/** A mismatch in review, and its order. */
interface Reviewed {
  readonly name: string;
  readonly orderId: string;
  readonly order: PlacedOrder;
  /** The stream id of its transaction; null where the platform names none. */
  readonly transaction: string | null;
}

export function makeResolvePayment(
  deps: Pick<Deps, 'handler' | 'sealer' | 'digests'> & {
    readonly settlePayment: SettlePayment;
  },
): ResolvePayment {
  const { handler, settlePayment } = deps;

  return async ({ id, ...decided }, context) => {
    const named = parsePaymentId(id);
    if (named === null) return notFound();
    const decision = { ...decided, note: checkText(decided.note, 'note', 1_000) };
    if (decision.action === 'dismiss' && decision.orderId !== null) {
      invalid('order_id', 'is for what is applied');
    }
    return named.index === null
      ? resolveHeld(named.callbackId, decision, context)
      : resolveReview(await findReviewed(named.callbackId, named.index), decision, context);
  };

  async function resolveHeld(
    id: string,
    { action, orderId, note }: Decision,
    context: CommandContext,
  ): Promise<PaymentResolution> {
    if (action === 'apply' && orderId === null) invalid('order_id', 'is missing');
    const buyerId = orderId === null ? null : (await requireOrder(orderId)).userId;
    // An order or a link may have come since, and then a rule settles the callback, not the operator.
    if ((await received(id)).resolution === null) await settle(id, context, 'settle-first');
    const target = { aggregate: paymentCallbackAggregate, id };
    const sealed = await sealPaymentNote(deps, { paymentId: id, buyerId }, note);
    const command = { type: 'Resolve', decision: { action, orderId }, note: sealed } as const;
    await handler.handle(target, command, stepContext(context, 'resolve'));
    await settle(id, context, 'settle');
    // The repetition writes the documents: another process may have settled the callback and not written them yet.
    await handler.handle(target, command, stepContext(context, 'resolve'));
    const { disposition, orderId: settledWith } = await received(id);
    if (disposition === null) throw new Error('a payment that was decided on has not been settled');
    return { id, action, orderId: settledWith, disposition };
  }

  function settle(id: string, context: CommandContext, step: string): Promise<void> {
    return settlePayment.settle(id, stepContext(context, step), 'written');
  }

  async function resolveReview(
    { name, orderId, order, transaction }: Reviewed,
    { action, orderId: named, note }: Decision,
    context: CommandContext,
  ): Promise<PaymentResolution> {
    if (named !== null && named !== orderId) invalid('order_id', 'is another than the order in review');
    const sealed = await sealPaymentNote(deps, { paymentId: name, buyerId: order.userId }, note);
    const command = { type: 'ResolveReview', callback: name, action, note: sealed } as const;
    // A refused decision writes nothing.
    const decided = orderAggregate.decider.decide(command, order);
    if (action === 'apply' && decided.length > 0 && transaction !== null) {
      // The link leads callbacks that name only the transaction to the order. The parked ones are settled before the
      // decision, so that it covers them, and so that after a crash the operator's repetition settles the rest.
      const target = { aggregate: transactionAggregate, id: transaction };
      await handler.handle(target, { type: 'Link', orderId }, stepContext(context, 'link'));
      await settlePayment.settleParked(transaction, stepContext(context, 'parked'));
    }
    await handler.handle({ aggregate: orderAggregate, id: orderId }, command, stepContext(context, 'review'));
    return { id: name, action, orderId, disposition: action === 'apply' ? 'applied' : 'ignored' };
  }

  /** Finds the order that has the mismatch, open or decided. */
  async function findReviewed(callbackId: string, index: number): Promise<Reviewed> {
    const state = await received(callbackId);
    const notification = state.callback.notifications[index] ?? notFound();
    const name = notificationName(callbackId, index);
    const { transaction_id } = notification;
    const transaction =
      transaction_id === null ? null : transactionStreamId(state.callback.provider, transaction_id);
    for (const orderId of await ordersOf(state, notification, transaction)) {
      const order = await placedOrder(orderId);
      if (order === null) continue;
      if (isNamedIn(order, name)) {
        return { name, orderId, order, transaction };
      }
    }
    return rejectOrder('review_not_open', 'nothing waits for a decision under this name');
  }

  /** Returns the orders to which settling may have reported the notification. */
  async function ordersOf(
    { resolution }: Received,
    { order_number: number }: PaymentNotification,
    transaction: string | null,
  ): Promise<readonly string[]> {
    const named = number === null ? null : parseOrderNumber(number);
    const linked =
      transaction === null ? null : (await handler.load(transactionAggregate, transaction)).state.orderId;
    return [named, linked, resolution?.orderId ?? null].filter((orderId) => orderId !== null);
  }

  async function received(id: string): Promise<Received> {
    const { state } = await handler.load(paymentCallbackAggregate, id);
    return state.status === 'received' ? state : notFound();
  }

  async function requireOrder(orderId: string): Promise<PlacedOrder> {
    return (await placedOrder(orderId)) ?? rejectOrder('order_not_found', 'there is no such order');
  }

  async function placedOrder(orderId: string): Promise<PlacedOrder | null> {
    const { state } = await handler.load(orderAggregate, orderId);
    return state.status === 'placed' ? state : null;
  }
}

/** Returns whether a mismatch, a payment that bought nothing, or a decision of the order has this name. */
function isNamedIn(order: PlacedOrder, name: string): boolean {
  const waiting = [...order.mismatches, ...unusedPayments(order)];
  return waiting.some(({ id }) => id === name) || order.resolved.has(name);
}

function notFound(): never {
  return rejectPaymentCallback('payment_callback_not_found', 'there is no such payment');
}
