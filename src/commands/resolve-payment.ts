import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { stepContext } from '../event-sourcing/ids.js';
import { invalid } from '../domain/invalid-request.js';
import { parseOrderNumber } from '../domain/order/number.js';
import { orderAggregate, type PlacedOrder } from '../domain/order/order.js';
import { rejectOrder } from '../domain/order/rejections.js';
import type { Disposition } from '../domain/payment-callback/events.js';
import {
  paymentCallbackAggregate,
  type PaymentCallbackState,
} from '../domain/payment-callback/payment-callback.js';
import { rejectPaymentCallback } from '../domain/payment-callback/rejections.js';
import type { RecordedNotification } from '../domain/payment.js';
import { checkText } from '../domain/text.js';
import { transactionAggregate } from '../domain/transaction/transaction.js';
import type { Digests } from '../keys/digests.js';
import type { Sealer } from '../keys/sealer.js';
import { notificationName, parsePaymentId, transactionStreamId } from './payment-ids.js';
import { sealPaymentNote } from './payment-notes.js';
import type { SettlePayment } from './settle-payment.js';

export interface ResolvePaymentInput {
  /** A held callback, or a mismatch in review: see `parsePaymentId`. */
  readonly id: string;
  readonly action: 'apply' | 'dismiss';
  /** The order that a held callback is applied to. */
  readonly orderId: string | null;
  /** Why: 1 to 1,000 characters. */
  readonly note: string;
}

/** What became of it. `orderId`: the order that it was settled with. */
export interface PaymentResolution {
  readonly id: string;
  readonly action: 'apply' | 'dismiss';
  readonly orderId: string | null;
  readonly disposition: Disposition;
}

/**
 * Settles as an operator decides what no rule can settle (DESIGN 3, Callbacks). The decision is an event before anything
 * follows from it. The same one again gives the same answer; another one after it is refused.
 * @throws CommandRejected invalid_request, payment_callback_not_found, payment_callback_not_held, payment_callback_resolved,
 * payment_callback_unreadable, payment_callback_order_full, order_not_found, review_not_open, review_resolved, review_not_applicable,
 * transaction_of_another_order
 */
export type ResolvePayment = (
  input: ResolvePaymentInput,
  context: CommandContext,
) => Promise<PaymentResolution>;

type Received = Extract<PaymentCallbackState, { status: 'received' }>;
type Decision = Omit<ResolvePaymentInput, 'id'>;

/** What waits in review, and where. */
interface Waiting {
  readonly name: string;
  readonly orderId: string;
  readonly order: PlacedOrder;
  /** The stream of its transaction; null where the platform names none. */
  readonly transaction: string | null;
}

export function makeResolvePayment(deps: {
  readonly handler: CommandHandler;
  readonly settlePayment: SettlePayment;
  readonly sealer: Pick<Sealer, 'seal'>;
  readonly digests: Pick<Digests, 'of'>;
}): ResolvePayment {
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
      : resolveReview(await findWaiting(named.callbackId, named.index), decision, context);
  };

  async function resolveHeld(
    id: string,
    { action, orderId, note }: Decision,
    context: CommandContext,
  ): Promise<PaymentResolution> {
    if (action === 'apply' && orderId === null) invalid('order_id', 'is missing');
    const buyerId = orderId === null ? null : (await requireOrder(orderId)).userId;
    // What a rule can settle by now is no matter of opinion.
    if ((await received(id)).resolution === null) await settle(id, context, 'settle-first');
    const target = { aggregate: paymentCallbackAggregate, id };
    const sealed = await sealPaymentNote(deps, { paymentId: id, buyerId }, note);
    const command = { type: 'Resolve', decision: { action, orderId }, note: sealed } as const;
    await handler.handle(target, command, stepContext(context, 'resolve'));
    await settle(id, context, 'settle');
    // Repeated for its documents: where another process has settled it meanwhile, they may not be written yet.
    await handler.handle(target, command, stepContext(context, 'resolve'));
    const { disposition, orderId: settledWith } = await received(id);
    if (disposition === null) throw new Error('a payment that was decided on has not been settled');
    return { id, action, orderId: settledWith, disposition };
  }

  function settle(id: string, context: CommandContext, step: string): Promise<void> {
    return settlePayment.settle(id, stepContext(context, step), { pace: 'written' });
  }

  async function resolveReview(
    { name, orderId, order, transaction }: Waiting,
    { action, orderId: named, note }: Decision,
    context: CommandContext,
  ): Promise<PaymentResolution> {
    if (named !== null && named !== orderId) invalid('order_id', 'is another than the order in review');
    const sealed = await sealPaymentNote(deps, { paymentId: name, buyerId: order.userId }, note);
    const command = { type: 'ResolveReview', callback: name, action, note: sealed } as const;
    // Refused before anything is written.
    const decided = orderAggregate.decider.decide(command, order);
    if (action === 'apply' && decided.length > 0 && transaction !== null) {
      // From now on what is told of the transaction alone reaches the order; what waited for that comes before the decision,
      // which is then one on all of it, and is what an operator repeats after a crash.
      const target = { aggregate: transactionAggregate, id: transaction };
      await handler.handle(target, { type: 'Link', orderId }, stepContext(context, 'link'));
      await settlePayment.settleParked(transaction, stepContext(context, 'parked'));
    }
    await handler.handle({ aggregate: orderAggregate, id: orderId }, command, stepContext(context, 'review'));
    return { id: name, action, orderId, disposition: action === 'apply' ? 'applied' : 'ignored' };
  }

  /** The order on which the mismatch stands, whether it waits or was decided on. */
  async function findWaiting(callbackId: string, index: number): Promise<Waiting> {
    const state = await received(callbackId);
    const told = state.callback.notifications[index] ?? notFound();
    const name = notificationName(callbackId, index);
    const transaction =
      told.transaction_id === null ? null : transactionStreamId(state.callback.provider, told.transaction_id);
    for (const orderId of await ordersOf(state, told, transaction)) {
      const order = await placedOrder(orderId);
      if (order?.mismatches.has(name) === true || order?.resolved.has(name) === true) {
        return { name, orderId, order, transaction };
      }
    }
    return rejectOrder('review_not_open', 'nothing waits for a decision under this name');
  }

  /** Where settling may have brought it. */
  async function ordersOf(
    { resolution }: Received,
    { order_number: number }: RecordedNotification,
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

function notFound(): never {
  return rejectPaymentCallback('payment_callback_not_found', 'there is no such payment');
}
