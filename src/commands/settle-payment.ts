import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import { stepContext } from '../event-sourcing/ids.js';
import type { Disposition, HoldReason, ReceivedCallback } from '../domain/payment-callback/events.js';
import { paymentCallbackAggregate } from '../domain/payment-callback/payment-callback.js';
import { parseOrderNumber } from '../domain/order/number.js';
import { orderAggregate, type PlacedOrder, type ReportedFact } from '../domain/order/order.js';
import { transactionAggregate } from '../domain/transaction/transaction.js';
import { notificationName, transactionStreamId } from './payment-ids.js';
import { isRejection } from './rejections.js';

/**
 * Brings what a callback says to its order (DESIGN 3, Callbacks). Every step changes nothing when it is repeated, so any
 * number of processes may settle the same callback, and whoever is cut off is followed by another.
 */
export interface SettlePayment {
  /** Whether it was accepted and nothing has become of it yet: neither settled nor held. */
  isOwed(callbackId: string): Promise<boolean>;
  /** @throws StoreUnavailable, Overloaded */
  settle(callbackId: string, context: CommandContext): Promise<void>;
}

/** What became of one of the things that a callback tells. */
type Outcome =
  | { readonly kind: 'settled'; readonly disposition: Disposition; readonly orderId: string | null }
  | { readonly kind: 'held'; readonly reason: HoldReason };

interface Notification {
  readonly callbackId: string;
  readonly callback: ReceivedCallback;
  /** Names this notification in the order's events. */
  readonly name: string;
  readonly told: ReceivedCallback['notifications'][number];
}

/** One callback that is to be settled, and those that it sets free. */
interface Chain {
  /** Those that are being settled: each looks again itself at what it waits for. */
  readonly underWay: Set<string>;
  /** What was parked, by its transaction and itself. It may wait for several, and is tried once for each. */
  readonly tried: Set<string>;
}

/** Callbacks never wait for a view (DESIGN 4.5). */
const options: HandleOptions = { isUrgent: true };

export function makeSettlePayment({ handler }: { readonly handler: CommandHandler }): SettlePayment {
  return {
    isOwed: async (callbackId) => {
      const { state } = await handler.load(paymentCallbackAggregate, callbackId);
      return state.status === 'received' && state.disposition === null && state.held === null;
    },
    settle: (callbackId, context) => settle(callbackId, context, { underWay: new Set(), tried: new Set() }),
  };

  async function settle(callbackId: string, context: CommandContext, chain: Chain): Promise<void> {
    const { state, revision } = await handler.load(paymentCallbackAggregate, callbackId);
    if (state.status === 'absent' || state.disposition !== null) return;
    const { callback } = state;
    const notifications = callback.notifications.map((told, index): Notification => {
      return { callbackId, callback, name: notificationName(callbackId, index), told };
    });
    const outcomes: Outcome[] = [];
    chain.underWay.add(callbackId);
    for (const notification of notifications) outcomes.push(await settleOne(notification, context, chain));
    // One may have waited for the link that a later one of the same callback has made.
    for (const [index, notification] of notifications.entries()) {
      if (outcomes[index]?.kind === 'held') outcomes[index] = await settleOne(notification, context, chain);
    }
    chain.underWay.delete(callbackId);
    const target = { aggregate: paymentCallbackAggregate, id: callbackId };
    const held = outcomes.find((outcome) => outcome.kind === 'held');
    if (held !== undefined) {
      const command = { type: 'Hold', reason: held.reason } as const;
      // Of several things that it tells each may hold it in turn, so a reason may come again.
      await handler.handle(target, command, stepContext(context, `${callbackId}/hold/${revision}`), options);
      return;
    }
    // Held ones owe nobody anything; another that is settled before those that its link has set free would leave them behind.
    if (state.held === null && (await hasWaiting(notifications, chain))) return;
    const command = { type: 'Settle', ...together(outcomes) } as const;
    await handler.handle(target, command, stepContext(context, `${callbackId}/settle`), options);
  }

  async function settleOne(
    notification: Notification,
    context: CommandContext,
    chain: Chain,
  ): Promise<Outcome> {
    const { callback, told, name } = notification;
    if (told.fact.kind === 'nothing') return { kind: 'settled', disposition: 'ignored', orderId: null };
    if (told.fact.kind === 'unreadable') return { kind: 'held', reason: 'unreadable' };
    const orderId = await findOrParkFor(notification, context);
    if (orderId === null) {
      return { kind: 'held', reason: told.order_number === null ? 'unlinked_transaction' : 'unknown_order' };
    }
    const order = await placedOrder(orderId);
    if (order === null) throw new Error('an order that a transaction belongs to is gone');
    const report: ReportedFact = {
      callback: name,
      transactionId: told.transaction_id,
      fact: told.fact,
      at: new Date(told.at ?? callback.received_at),
    };
    const mismatch = await findMismatch(notification, { orderId, order }, context);
    await handler.handle(
      { aggregate: orderAggregate, id: orderId },
      mismatch === null ? { type: 'Report', report } : { type: 'ReportMismatch', report, reason: mismatch },
      stepContext(context, `${name}/report`),
      options,
    );
    if (mismatch === null) await settleParked(notification, context, chain);
    return { kind: 'settled', disposition: await dispositionIn(orderId, name), orderId };
  }

  /** The order that it is about; null where that is not known, and then it is parked on the transaction that it names. */
  async function findOrParkFor({ callbackId, callback, name, told }: Notification, context: CommandContext) {
    const byNumber = told.order_number === null ? null : parseOrderNumber(told.order_number);
    if (byNumber !== null && (await placedOrder(byNumber)) !== null) return byNumber;
    if (told.transaction_id === null) return null;
    const target = {
      aggregate: transactionAggregate,
      id: transactionStreamId(callback.provider, told.transaction_id),
    };
    const { state } = await handler.load(transactionAggregate, target.id);
    if (state.orderId !== null) return state.orderId;
    try {
      const command = { type: 'Park', callback: callbackId } as const;
      await handler.handle(target, command, stepContext(context, `${name}/park`), options);
      return null;
    } catch (error) {
      // It was linked a moment ago, and whoever did so has not seen this callback among those that wait.
      if (!isRejection(error, 'transaction_linked')) throw error;
      return (await handler.load(transactionAggregate, target.id)).state.orderId;
    }
  }

  /** Why it is not the order's, whatever it says; links its transaction to the order where it is. */
  async function findMismatch(
    { callback, told, name }: Notification,
    { orderId, order }: { readonly orderId: string; readonly order: PlacedOrder },
    context: CommandContext,
  ): Promise<'merchant' | 'transaction_of_another_order' | null> {
    // An order is paid where it was said to be: another platform's payments are counted in other terms.
    if (!callback.is_ours || order.provider !== callback.provider) return 'merchant';
    if (told.transaction_id === null) return null;
    const id = transactionStreamId(callback.provider, told.transaction_id);
    try {
      const link = { type: 'Link', orderId } as const;
      const target = { aggregate: transactionAggregate, id };
      await handler.handle(target, link, stepContext(context, `${name}/link`), options);
      return null;
    } catch (error) {
      if (isRejection(error, 'transaction_of_another_order')) return 'transaction_of_another_order';
      throw error;
    }
  }

  /** What came before its transaction was linked. */
  async function settleParked(
    { callback, told }: Notification,
    context: CommandContext,
    chain: Chain,
  ): Promise<void> {
    if (told.transaction_id === null) return;
    const id = transactionStreamId(callback.provider, told.transaction_id);
    const { state } = await handler.load(transactionAggregate, id);
    for (const parked of state.parked) {
      const place = `${id}/${parked}`;
      if (chain.underWay.has(parked) || chain.tried.has(place)) continue;
      chain.tried.add(place);
      await settle(parked, context, chain);
    }
  }

  /** Whether some that wait for its transactions are being settled by whoever asks for this, and are not settled yet. */
  async function hasWaiting(notifications: readonly Notification[], { underWay }: Chain): Promise<boolean> {
    if (underWay.size === 0) return false;
    for (const { callback, told } of notifications) {
      if (told.transaction_id === null) continue;
      const id = transactionStreamId(callback.provider, told.transaction_id);
      const { state } = await handler.load(transactionAggregate, id);
      if ([...state.parked].some((parked) => underWay.has(parked))) return true;
    }
    return false;
  }

  async function placedOrder(orderId: string): Promise<PlacedOrder | null> {
    const { state } = await handler.load(orderAggregate, orderId);
    return state.status === 'placed' ? state : null;
  }

  /** As the order's log has it, so that a repetition after a crash finds what the first try has found. */
  async function dispositionIn(orderId: string, name: string): Promise<Disposition> {
    const { seen } = (await placedOrder(orderId)) ?? { seen: new Set<string>() };
    if (seen.has(`PaymentMismatchFound/${name}`)) return 'mismatch';
    return [...seen].some((entry) => entry.endsWith(`/${name}`)) ? 'applied' : 'already_applied';
  }
}

const rank: readonly Disposition[] = ['mismatch', 'applied', 'already_applied', 'ignored'];

/** One disposition for all that a callback tells: the one that matters most. */
function together(outcomes: readonly Outcome[]): {
  readonly disposition: Disposition;
  readonly orderId: string | null;
} {
  const settled = outcomes.filter((outcome) => outcome.kind === 'settled');
  for (const disposition of rank) {
    const found = settled.find((outcome) => outcome.disposition === disposition);
    if (found !== undefined) return found;
  }
  return { disposition: 'ignored', orderId: null };
}
