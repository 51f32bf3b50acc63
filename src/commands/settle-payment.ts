import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import { stepContext } from '../event-sourcing/ids.js';
import type { Disposition, HoldReason, ReceivedCallback } from '../domain/payment-callback/events.js';
import {
  type CallbackResolution,
  paymentCallbackAggregate,
} from '../domain/payment-callback/payment-callback.js';
import { parseOrderNumber } from '../domain/order/number.js';
import {
  orderAggregate,
  type OrderCommand,
  type PlacedOrder,
  type ReportedFact,
} from '../domain/order/order.js';
import { transactionAggregate } from '../domain/transaction/transaction.js';
import { notificationName, transactionStreamId } from './payment-ids.js';
import { isRejection } from './rejections.js';

/**
 * Brings what a callback says to its order (DESIGN 3, Callbacks). Every step changes nothing when it is repeated, so any
 * number of processes may settle the same callback, and whoever is cut off is followed by another.
 */
export interface SettlePayment {
  /** Whether it was accepted, or decided on, and nothing has become of that yet. */
  isOwed(callbackId: string): Promise<boolean>;
  /**
   * Resolves once it is settled or held.
   * @param pace `urgent`: nobody waits for views, as callbacks never do (DESIGN 4.5)
   * @throws StoreUnavailable, Overloaded
   */
  settle(callbackId: string, context: CommandContext, pace?: 'urgent' | 'written'): Promise<void>;
  /** What waits for the transaction, which has been linked. @throws StoreUnavailable, Overloaded */
  settleParked(transaction: string, context: CommandContext): Promise<void>;
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
  /** What somebody has decided on the callback. */
  readonly resolution: CallbackResolution | null;
}

/** One way through a callback and all that it sets free. */
interface Run {
  readonly context: CommandContext;
  readonly options: HandleOptions;
  /** Callbacks that are being settled: each looks again itself at what it waits for. */
  readonly underWay: Set<string>;
  /** What was parked, by its transaction and itself. It may wait for several, and is tried once for each. */
  readonly tried: Set<string>;
}

/** Where a notification goes. */
type Destination =
  /** The order itself, where it has been looked for already. */
  | { readonly kind: 'order'; readonly orderId: string; readonly order?: PlacedOrder }
  | { readonly kind: 'waits' }
  /** Somebody has decided that it goes nowhere. */
  | { readonly kind: 'dismissed' };

export function makeSettlePayment({ handler }: { readonly handler: CommandHandler }): SettlePayment {
  return {
    isOwed: async (callbackId) => {
      const { state } = await handler.load(paymentCallbackAggregate, callbackId);
      if (state.status === 'absent' || state.disposition !== null) return false;
      return state.held === null || state.resolution !== null;
    },
    settle: (callbackId, context, pace = 'urgent') =>
      settle(callbackId, startRun(context, { isUrgent: pace === 'urgent' })),
    settleParked: (transaction, context) => settleParked(transaction, startRun(context, {})),
  };

  async function settle(callbackId: string, run: Run): Promise<void> {
    const { state, revision } = await handler.load(paymentCallbackAggregate, callbackId);
    if (state.status === 'absent' || state.disposition !== null) return;
    const { callback, resolution } = state;
    const notifications = callback.notifications.map((told, index): Notification => {
      return { callbackId, callback, name: notificationName(callbackId, index), told, resolution };
    });
    const outcomes: Outcome[] = [];
    run.underWay.add(callbackId);
    for (const notification of notifications) outcomes.push(await settleOne(notification, run));
    // One may have waited for the link that a later one of the same callback has made.
    for (const [index, notification] of notifications.entries()) {
      if (outcomes[index]?.kind === 'held') outcomes[index] = await settleOne(notification, run);
    }
    run.underWay.delete(callbackId);
    const target = { aggregate: paymentCallbackAggregate, id: callbackId };
    const { context, options } = run;
    const reason = holdReason(outcomes);
    if (reason !== null) {
      const command = { type: 'Hold', reason } as const;
      // Of several things that it tells each may hold it in turn, so a reason may come again.
      await handler.handle(target, command, stepContext(context, `${callbackId}/hold/${revision}`), options);
      return;
    }
    // Held ones owe nobody anything; another that is settled before those that its link has set free would leave them behind.
    const isOwed = state.held === null || resolution !== null;
    if (isOwed && (await hasWaiting(notifications, run))) return;
    const command = { type: 'Settle', ...together(outcomes) } as const;
    await handler.handle(target, command, stepContext(context, `${callbackId}/settle`), options);
  }

  async function settleOne(notification: Notification, run: Run): Promise<Outcome> {
    const { callback, told, name, resolution } = notification;
    if (told.fact.kind === 'nothing') return ignored;
    if (told.fact.kind === 'unreadable') return unlessResolved(resolution, 'unreadable');
    const destination = await findDestination(notification, run);
    if (destination.kind === 'dismissed') return ignored;
    if (destination.kind === 'waits') {
      return { kind: 'held', reason: told.order_number === null ? 'unlinked_transaction' : 'unknown_order' };
    }
    const { orderId } = destination;
    const order = destination.order ?? (await existingOrder(orderId));
    const report: ReportedFact = {
      callback: name,
      transactionId: told.transaction_id,
      fact: told.fact,
      at: new Date(told.at ?? callback.received_at),
    };
    const mismatch = await findMismatch(notification, { orderId, order }, run);
    const isKept = await tell(
      orderId,
      mismatch === null
        ? { type: 'Report', report }
        : { type: 'ReportMismatch', report, provider: callback.provider, reason: mismatch },
      run,
    );
    if (mismatch === null && told.transaction_id !== null) {
      await settleParked(transactionStreamId(callback.provider, told.transaction_id), run);
    }
    if (!isKept) return unlessResolved(resolution, 'order_full');
    return { kind: 'settled', disposition: await dispositionIn(orderId, name), orderId };
  }

  /** Whether the order keeps it: of one that has heard too much people decide first. */
  async function tell(
    orderId: string,
    command: Extract<OrderCommand, { readonly report: ReportedFact }>,
    { context, options }: Run,
  ): Promise<boolean> {
    const target = { aggregate: orderAggregate, id: orderId };
    try {
      const step = stepContext(context, `${command.report.callback}/report`);
      await handler.handle(target, command, step, options);
      return true;
    } catch (error) {
      if (isRejection(error, 'order_full')) return false;
      throw error;
    }
  }

  /**
   * The order that it names or whose transaction it is. Else it waits, parked on the transaction, or goes where somebody has
   * decided. A link and a decision meet at the transaction: the one that came first there stands, for whoever settles this.
   */
  async function findDestination(
    { callbackId, callback, name, told, resolution }: Notification,
    { context, options }: Run,
  ): Promise<Destination> {
    const byNumber = told.order_number === null ? null : parseOrderNumber(told.order_number);
    const numbered = byNumber === null ? null : await placedOrder(byNumber);
    if (byNumber !== null && numbered !== null) return { kind: 'order', orderId: byNumber, order: numbered };
    const decided = destinationOf(resolution);
    if (told.transaction_id === null) return decided;
    const id = transactionStreamId(callback.provider, told.transaction_id);
    const target = { aggregate: transactionAggregate, id };
    const { state } = await handler.load(transactionAggregate, id);
    if (state.unparked.has(callbackId)) return decided;
    if (state.orderId !== null) return { kind: 'order', orderId: state.orderId };
    const [type, step] = resolution === null ? (['Park', 'park'] as const) : (['Unpark', 'unpark'] as const);
    try {
      const command = { type, callback: callbackId };
      await handler.handle(target, command, stepContext(context, `${name}/${step}`), options);
      return decided;
    } catch (error) {
      // It was linked a moment ago, and whoever did so has not seen this callback among those that wait.
      if (!isRejection(error, 'transaction_linked')) throw error;
      const { orderId } = (await handler.load(transactionAggregate, id)).state;
      return orderId === null ? decided : { kind: 'order', orderId };
    }
  }

  /** Why it is not the order's, whatever it says; links its transaction to the order where it is. */
  async function findMismatch(
    { callback, told, name }: Notification,
    { orderId, order }: { readonly orderId: string; readonly order: PlacedOrder },
    { context, options }: Run,
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
  async function settleParked(transaction: string, run: Run): Promise<void> {
    const { state } = await handler.load(transactionAggregate, transaction);
    for (const parked of state.parked) {
      const place = `${transaction}/${parked}`;
      if (run.underWay.has(parked) || run.tried.has(place)) continue;
      run.tried.add(place);
      await settle(parked, run);
    }
  }

  /** Whether some that wait for its transactions are being settled by whoever asks for this, and are not settled yet. */
  async function hasWaiting(notifications: readonly Notification[], { underWay }: Run): Promise<boolean> {
    if (underWay.size === 0) return false;
    for (const { callback, told } of notifications) {
      if (told.transaction_id === null) continue;
      const id = transactionStreamId(callback.provider, told.transaction_id);
      const { state } = await handler.load(transactionAggregate, id);
      if ([...state.parked].some((parked) => underWay.has(parked))) return true;
    }
    return false;
  }

  async function existingOrder(orderId: string): Promise<PlacedOrder> {
    const order = await placedOrder(orderId);
    if (order === null) throw new Error('an order that a transaction belongs to is gone');
    return order;
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

function startRun(context: CommandContext, options: HandleOptions): Run {
  return { context, options, underWay: new Set(), tried: new Set() };
}

const ignored: Outcome = { kind: 'settled', disposition: 'ignored', orderId: null };

/** What nobody can apply waits until somebody has decided on the callback. */
function unlessResolved(resolution: CallbackResolution | null, reason: HoldReason): Outcome {
  return resolution === null ? { kind: 'held', reason } : ignored;
}

function destinationOf(resolution: CallbackResolution | null): Destination {
  if (resolution === null) return { kind: 'waits' };
  const { orderId } = resolution;
  return orderId === null ? { kind: 'dismissed' } : { kind: 'order', orderId };
}

/** Why the callback waits; what can only be dismissed comes after what waits for an order. */
function holdReason(outcomes: readonly Outcome[]): HoldReason | null {
  const reasons = outcomes.flatMap((outcome) => (outcome.kind === 'held' ? [outcome.reason] : []));
  const waiting = reasons.find((reason) => reason === 'unknown_order' || reason === 'unlinked_transaction');
  return waiting ?? reasons[0] ?? null;
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
