import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import { stepContext } from '../event-sourcing/ids.js';
import type { Disposition, HoldReason, ReceivedCallback } from '../domain/payment-callback/events.js';
import {
  type CallbackResolution,
  paymentCallbackAggregate,
  type PaymentCallbackState,
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
import { holdReason, ignored, type Outcome, together, unlessResolved } from './settlement-outcome.js';

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

interface Notification {
  readonly callbackId: string;
  readonly callback: ReceivedCallback;
  /** Names this notification in the order's events. */
  readonly name: string;
  readonly told: ReceivedCallback['notifications'][number];
  /** What somebody has decided on the callback. */
  readonly resolution: CallbackResolution | null;
}

/** A callback that is being settled. */
interface Work {
  readonly callbackId: string;
  /** The revision at which it was looked at. */
  readonly revision: bigint | null;
  /** Whether somebody comes back to it until it is settled or held. */
  readonly isOwed: boolean;
  readonly notifications: readonly Notification[];
  /** What has become of each notification so far. */
  readonly outcomes: (Outcome | undefined)[];
}

/** One way through a callback and all that its links set free. */
interface Run {
  readonly context: CommandContext;
  readonly options: HandleOptions;
  /** By callback, in the order in which they were found. */
  readonly works: Map<string, Work>;
}

/** Where a notification goes. */
type Destination =
  /** The order itself, where it has been looked for already. */
  | { readonly kind: 'order'; readonly orderId: string; readonly order?: PlacedOrder }
  /** `isFull`: not even on its transaction, for which so much waits already. */
  | { readonly kind: 'waits'; readonly isFull?: true }
  /** Somebody has decided that it goes nowhere. */
  | { readonly kind: 'dismissed' };

export function makeSettlePayment({ handler }: { readonly handler: CommandHandler }): SettlePayment {
  return {
    isOwed: async (callbackId) => {
      const { state } = await handler.load(paymentCallbackAggregate, callbackId);
      return isOwed(state);
    },
    settle: async (callbackId, context, pace = 'urgent') => {
      const run = startRun(context, { isUrgent: pace === 'urgent' });
      await take(callbackId, run);
      await settleAll(run);
    },
    settleParked: async (transaction, context) => {
      const run = startRun(context, {});
      await takeParked(transaction, run);
      await settleAll(run);
    },
  };

  /** Has it settled with the others, unless that was done. */
  async function take(callbackId: string, { works }: Run): Promise<void> {
    if (works.has(callbackId)) return;
    const { state, revision } = await handler.load(paymentCallbackAggregate, callbackId);
    if (state.status === 'absent' || state.disposition !== null) return;
    const { callback, resolution } = state;
    const notifications = callback.notifications.map((told, index): Notification => {
      return { callbackId, callback, name: notificationName(callbackId, index), told, resolution };
    });
    works.set(callbackId, { callbackId, revision, isOwed: isOwed(state), notifications, outcomes: [] });
  }

  /** What came before the transaction was linked. */
  async function takeParked(transaction: string, run: Run): Promise<void> {
    const { state } = await handler.load(transactionAggregate, transaction);
    for (const parked of state.parked) await take(parked, run);
  }

  async function settleAll(run: Run): Promise<void> {
    // What waits is tried again as long as others are told: any of them may have made the link.
    for (let isNews = true; isNews;) {
      isNews = false;
      for (const { notifications, outcomes } of run.works.values()) {
        for (const [index, notification] of notifications.entries()) {
          if (outcomes[index]?.kind === 'settled') continue;
          const outcome = await settleOne(notification, run);
          outcomes[index] = outcome;
          isNews ||= outcome.kind === 'settled';
        }
      }
    }
    for (const work of lastOwed(run)) await conclude(work, run);
  }

  async function conclude(work: Work, { context, options }: Run): Promise<void> {
    const { callbackId, revision } = work;
    const target = { aggregate: paymentCallbackAggregate, id: callbackId };
    const outcomes = work.outcomes.filter((outcome) => outcome !== undefined);
    const reason = holdReason(outcomes);
    if (reason === null) {
      const command = { type: 'Settle', ...together(outcomes) } as const;
      await handler.handle(target, command, stepContext(context, `${callbackId}/settle`), options);
      return;
    }
    // Of several things that it tells each may hold it in turn, so a reason may come again.
    const step = stepContext(context, `${callbackId}/hold/${revision}`);
    await handler.handle(target, { type: 'Hold', reason }, step, options);
  }

  async function settleOne(notification: Notification, run: Run): Promise<Outcome> {
    const { callback, told, name, resolution } = notification;
    if (told.fact.kind === 'nothing') return ignored;
    if (told.fact.kind === 'unreadable') return unlessResolved(resolution, 'unreadable');
    const destination = await findDestination(notification, run);
    if (destination.kind === 'dismissed') return ignored;
    if (destination.kind === 'waits') return { kind: 'held', reason: whyItWaits(destination, told) };
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
      await takeParked(transactionStreamId(callback.provider, told.transaction_id), run);
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
      return await destinationAfter(error, id, decided);
    }
  }

  /** Where it goes that was not to be parked, or taken off, there. */
  async function destinationAfter(refusal: unknown, id: string, decided: Destination): Promise<Destination> {
    if (isRejection(refusal, 'transaction_full')) return { kind: 'waits', isFull: true };
    // It was linked a moment ago, and whoever did so has not seen this callback among those that wait.
    if (!isRejection(refusal, 'transaction_linked')) throw refusal;
    const { orderId } = (await handler.load(transactionAggregate, id)).state;
    return orderId === null ? decided : { kind: 'order', orderId };
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
  return { context, options, works: new Map() };
}

function isOwed(state: PaymentCallbackState): boolean {
  if (state.status === 'absent' || state.disposition !== null) return false;
  return state.held === null || state.resolution !== null;
}

/**
 * Those that are owed come last, and of them whoever was found first: the link that has set others free is theirs, and a crash before
 * that leaves somebody who comes back to the others.
 */
function lastOwed({ works }: Run): readonly Work[] {
  const backwards = [...works.values()].reverse();
  return [...backwards.filter((work) => !work.isOwed), ...backwards.filter((work) => work.isOwed)];
}

function whyItWaits(
  { isFull }: Extract<Destination, { kind: 'waits' }>,
  { order_number: number }: Notification['told'],
): HoldReason {
  if (isFull === true) return 'transaction_full';
  return number === null ? 'unlinked_transaction' : 'unknown_order';
}

function destinationOf(resolution: CallbackResolution | null): Destination {
  if (resolution === null) return { kind: 'waits' };
  const { orderId } = resolution;
  return orderId === null ? { kind: 'dismissed' } : { kind: 'order', orderId };
}
