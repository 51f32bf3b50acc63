import type {
  CommandContext,
  CommandHandler,
  Loaded,
  LoadOptions,
} from '../event-sourcing/command-handler.js';
import { Overloaded, PreconditionFailed } from '../event-sourcing/errors.js';
import { stepContext } from '../event-sourcing/ids.js';
import type { Disposition, HoldReason } from '../domain/payment-callback/events.js';
import {
  paymentCallbackAggregate,
  type PaymentCallbackState,
} from '../domain/payment-callback/payment-callback.js';
import {
  orderAggregate,
  type OrderCommand,
  type PlacedOrder,
  type ReportedFact,
} from '../domain/order/order.js';
import { transactionAggregate } from '../domain/transaction/transaction.js';
import { notificationName, transactionStreamId } from './payment-ids.js';
import { isRejection } from './rejections.js';
import { makeFindDestination, whyItWaits } from './settlement-destination.js';
import { holdReason, ignored, type Outcome, together, unlessResolved } from './settlement-outcome.js';
import { lastOwed, type Notification, type Run, startRun, type Work } from './settlement-run.js';

/**
 * Brings what a callback says to its order (DESIGN 3, Callbacks). Every step changes nothing when it is repeated, so any
 * number of processes may settle the same callback, and whoever is cut off is followed by another.
 */
export interface SettlePayment {
  /** Whether it was accepted, or decided on, and nothing has become of that yet. */
  isOwed(callbackId: string): Promise<boolean>;
  /**
   * Resolves once it is settled or held.
   * @throws StoreUnavailable, Overloaded
   */
  settle(callbackId: string, context: CommandContext, options?: SettleOptions): Promise<void>;
  /** What waits for the transaction, which has been linked. @throws StoreUnavailable, Overloaded */
  settleParked(transaction: string, context: CommandContext): Promise<void>;
}

export interface SettleOptions {
  /** `urgent`, where left out: nobody waits for views, as callbacks never do (DESIGN 4.5). */
  readonly pace?: 'urgent' | 'written';
  /** The callback's revision when it was last looked at: what came later need not be known. */
  readonly seenAt?: bigint | null;
}

/** What the order and the transaction of a notification are to each other. */
type Link =
  | { readonly kind: 'linked'; readonly transaction: string; readonly revision: bigint | null }
  /** No transaction is named. */
  | { readonly kind: 'unnamed' }
  | { readonly kind: 'mismatch'; readonly reason: 'merchant' | 'transaction_of_another_order' };

const holdTriesMax = 20;

export function makeSettlePayment({ handler }: { readonly handler: CommandHandler }): SettlePayment {
  const findDestination = makeFindDestination({ handler, placedOrder });
  return {
    isOwed: async (callbackId) => {
      // What has been settled stays so.
      const suffices = ({ state }: Loaded<PaymentCallbackState>): boolean => isSettled(state);
      const { state } = await handler.load(paymentCallbackAggregate, callbackId, { suffices });
      return isOwed(state);
    },
    settle: async (callbackId, context, { pace = 'urgent', seenAt = null } = {}) => {
      // A request's steps are of that request alone; a reaction's are those of the same reaction elsewhere.
      const run = startRun(context, pace === 'urgent' ? { isUrgent: true, guess: 'remembered' } : {});
      await take(callbackId, run, seenAt);
      await settleAll(run);
    },
    settleParked: async (transaction, context) => {
      const run = startRun(context, {});
      await takeParked(transaction, run);
      await settleAll(run);
    },
  };

  /** Has it settled with the others, unless that was done. */
  async function take(callbackId: string, { works }: Run, seenAt: bigint | null = null): Promise<void> {
    if (works.has(callbackId)) return;
    const loaded = await handler.load(paymentCallbackAggregate, callbackId, since(seenAt));
    const { state, revision } = loaded;
    if (state.status === 'absent' || revision === null || state.disposition !== null) return;
    const { callback, resolution } = state;
    const notifications = callback.notifications.map((told, index): Notification => {
      return { callbackId, callback, name: notificationName(callbackId, index), told, resolution };
    });
    works.set(callbackId, { callbackId, revision, isOwed: isOwed(state), notifications, outcomes: [] });
  }

  /** What came before the transaction was linked; nothing is parked any more once it is. */
  async function takeParked(transaction: string, run: Run, linkedAt: bigint | null = null): Promise<void> {
    const { state } = await handler.load(transactionAggregate, transaction, since(linkedAt));
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
    const { callbackId } = work;
    const target = { aggregate: paymentCallbackAggregate, id: callbackId };
    const outcomes = work.outcomes.filter((outcome) => outcome !== undefined);
    const reason = holdReason(outcomes);
    if (reason === null) {
      const command = { type: 'Settle', ...together(outcomes) } as const;
      await handler.handle(target, command, stepContext(context, `${callbackId}/settle`), options);
      return;
    }
    await hold(work, reason, { context, options });
  }

  /**
   * Of several things that it tells each may hold it in turn, so a reason may come again: each is a command of its own for the
   * revision that it is decided on, and stands there or nowhere. Another process may have held it since for a reason of its own.
   */
  async function hold(
    { callbackId, revision }: Pick<Work, 'callbackId' | 'revision'>,
    reason: HoldReason,
    { context, options }: Pick<Run, 'context' | 'options'>,
  ): Promise<void> {
    const target = { aggregate: paymentCallbackAggregate, id: callbackId };
    let expectedRevision = revision;
    for (let attempt = 0; attempt < holdTriesMax; attempt += 1) {
      const step = stepContext(context, `${callbackId}/hold/${expectedRevision}`);
      try {
        await handler.handle(target, { type: 'Hold', reason }, step, { ...options, expectedRevision });
        return;
      } catch (error) {
        if (!(error instanceof PreconditionFailed)) throw error;
      }
      expectedRevision = (await handler.load(paymentCallbackAggregate, callbackId)).revision ?? revision;
    }
    throw new Overloaded(`a callback changed ${holdTriesMax} times while it was held`);
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
    const link = await linkTo({ orderId, order }, notification, run);
    const reportedAt = await tell(
      orderId,
      link.kind === 'mismatch'
        ? { type: 'ReportMismatch', report, provider: callback.provider, reason: link.reason }
        : { type: 'Report', report },
      run,
    );
    if (link.kind === 'linked') await takeParked(link.transaction, run, link.revision);
    if (reportedAt === 'full') return unlessResolved(resolution, 'order_full');
    return { kind: 'settled', disposition: await dispositionIn(orderId, name, reportedAt), orderId };
  }

  /** @returns the order's revision since; `full`: of an order that has heard too much people decide first */
  async function tell(
    orderId: string,
    command: Extract<OrderCommand, { readonly report: ReportedFact }>,
    { context, options }: Run,
  ): Promise<bigint | null | 'full'> {
    const target = { aggregate: orderAggregate, id: orderId };
    try {
      const step = stepContext(context, `${command.report.callback}/report`);
      return (await handler.handle(target, command, step, options)).revision;
    } catch (error) {
      if (isRejection(error, 'order_full')) return 'full';
      throw error;
    }
  }

  /** Links its transaction to the order; or says why it is not the order's, whatever it says. */
  async function linkTo(
    { orderId, order }: { readonly orderId: string; readonly order: PlacedOrder },
    { callback, told, name }: Notification,
    { context, options }: Run,
  ): Promise<Link> {
    // An order is paid where it was said to be: another platform's payments are counted in other terms.
    if (!callback.is_ours || order.provider !== callback.provider) return mismatch('merchant');
    if (told.transaction_id === null) return { kind: 'unnamed' };
    const transaction = transactionStreamId(callback.provider, told.transaction_id);
    try {
      const { revision } = await handler.handle(
        { aggregate: transactionAggregate, id: transaction },
        { type: 'Link', orderId },
        stepContext(context, `${name}/link`),
        // A payment is mostly the first that is heard of its transaction.
        told.fact.kind === 'paid' && options.guess !== undefined ? { ...options, guess: 'new' } : options,
      );
      return { kind: 'linked', transaction, revision };
    } catch (error) {
      if (isRejection(error, 'transaction_of_another_order')) return mismatch('transaction_of_another_order');
      throw error;
    }
  }

  async function existingOrder(orderId: string): Promise<PlacedOrder> {
    const order = await placedOrder(orderId);
    if (order === null) throw new Error('an order that a transaction belongs to is gone');
    return order;
  }

  /** What never changes of an order will do, where it need not be as it was at a revision. */
  async function placedOrder(orderId: string, revision: bigint | null = 0n): Promise<PlacedOrder | null> {
    const { state } = await handler.load(orderAggregate, orderId, since(revision));
    return state.status === 'placed' ? state : null;
  }

  /** As the order's log has it, so that a repetition after a crash finds what the first try has found. */
  async function dispositionIn(orderId: string, name: string, revision: bigint | null): Promise<Disposition> {
    const { seen } = (await placedOrder(orderId, revision)) ?? { seen: new Set<string>() };
    if (seen.has(`PaymentMismatchFound/${name}`)) return 'mismatch';
    return [...seen].some((entry) => entry.endsWith(`/${name}`)) ? 'applied' : 'already_applied';
  }
}

/** Whatever came after the revision need not be known; null: all that came is to be. */
function since<State>(revision: bigint | null): LoadOptions<State> {
  return revision === null
    ? {}
    : { suffices: (known) => known.revision !== null && known.revision >= revision };
}

function mismatch(reason: Extract<Link, { kind: 'mismatch' }>['reason']): Link {
  return { kind: 'mismatch', reason };
}

function isSettled(state: PaymentCallbackState): boolean {
  return state.status !== 'absent' && state.disposition !== null;
}

function isOwed(state: PaymentCallbackState): boolean {
  if (state.status === 'absent' || state.disposition !== null) return false;
  return state.held === null || state.resolution !== null;
}
