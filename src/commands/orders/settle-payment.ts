import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { PreconditionFailed } from '../../event-sourcing/ports/errors.js';
import { Overloaded } from '../../concurrency/overloaded.js';
import { stepContext } from '../../event-sourcing/deciding/ids.js';
import type { Disposition } from '../../domain/payment-callback/status.js';
import type { HoldReason } from '../../domain/payment-callback/hold-reason.js';
import {
  paymentCallbackAggregate,
  type PaymentCallbackState,
} from '../../domain/payment-callback/payment-callback.js';
import {
  orderAggregate,
  type OrderCommand,
  type PlacedOrder,
  type ReportedFact,
} from '../../domain/order/order.js';
import { transactionAggregate } from '../../domain/transaction/transaction.js';
import { notificationName, transactionStreamId } from './payment-ids.js';
import { isRejection } from '../shared/rejections.js';
import { makeFindDestination, whyItWaits } from './settlement-destination.js';
import {
  holdReasonOf,
  ignored,
  mainDisposition,
  type SettlementOutcome,
  unlessResolved,
} from './settlement-outcome.js';
import {
  conclusionOrder,
  type Notification,
  type OpenCallback,
  type SettlementRun,
  startRun,
} from './settlement-run.js';

/**
 * Settles a callback: reports its notifications to their orders (docs/design.md#settling). Every step is idempotent, so
 * several processes may settle the same callback, and one process completes the work of another that crashed.
 */
export interface SettlePayment {
  /** Says whether the callback is neither settled nor held without a decision. */
  isOwed(callbackId: string): Promise<boolean>;
  /** Settles or holds a callback. @throws StoreUnavailable, Overloaded */
  settle(callbackId: string, context: CommandContext, pace?: Pace): Promise<void>;
  /** Settles the callbacks that were parked on a transaction before its link. @throws StoreUnavailable, Overloaded */
  settleParked(transaction: string, context: CommandContext): Promise<void>;
}

/**
 * `urgent`, the default, is for the request that has just accepted the callback: it decides on cached state first and
 * waits for no document (docs/design.md#payment-callbacks). `written` reads every stream and waits for all documents.
 */
export type Pace = 'urgent' | 'written';

type Load = SettlementRun['load'];

/** How the order and the transaction of a notification belong together. */
type Link =
  | { readonly kind: 'linked'; readonly transaction: string }
  /** The notification names no transaction. */
  | { readonly kind: 'unnamed' }
  | { readonly kind: 'mismatch'; readonly reason: 'merchant' | 'transaction_of_another_order' };

const holdTriesMax = 20;

export function makeSettlePayment({ handler }: Pick<Deps, 'handler'>): SettlePayment {
  const findDestination = makeFindDestination({ handler, placedOrder });
  return {
    isOwed: async (callbackId) => {
      const { state } = await handler.load(paymentCallbackAggregate, callbackId);
      return isOwed(state);
    },
    settle: async (callbackId, context, pace = 'urgent') => {
      // No other process uses a request's command ids, unlike a reaction's: see `Load`.
      const run = startRun(context, pace === 'urgent' ? { isUrgent: true, load: 'remembered' } : {});
      // The acceptance has left at least its revision in the cache.
      await include(callbackId, run, run.load);
      await settleAll(run);
    },
    settleParked: async (transaction, context) => {
      const run = startRun(context, {});
      await includeParked(transaction, run);
      await settleAll(run);
    },
  };

  /** Adds a callback to the run, unless it is settled. */
  async function include(callbackId: string, { callbacks }: SettlementRun, load: Load): Promise<void> {
    if (callbacks.has(callbackId)) return;
    const { state, revision } = await handler.load(paymentCallbackAggregate, callbackId, load);
    if (state.status === 'absent' || revision === null || state.disposition !== null) return;
    const { callback, resolution } = state;
    const notifications = callback.notifications.map((content, index): Notification => {
      return { callbackId, callback, name: notificationName(callbackId, index), content, resolution };
    });
    callbacks.set(callbackId, { callbackId, revision, isOwed: isOwed(state), notifications, outcomes: [] });
  }

  /**
   * Adds the callbacks that were parked before the transaction was linked; a linked one parks no more. The link has left
   * at least its revision in the cache.
   */
  async function includeParked(transaction: string, run: SettlementRun): Promise<void> {
    const { state } = await handler.load(transactionAggregate, transaction, run.load);
    // An operator may have decided on a parked callback since this process cached it.
    for (const parked of state.parked) await include(parked, run, 'latest');
  }

  async function settleAll(run: SettlementRun): Promise<void> {
    // A notification that is settled may have made the link that a held one waits for, so the held ones are retried.
    for (let hasProgress = true; hasProgress;) {
      hasProgress = false;
      for (const { notifications, outcomes } of run.callbacks.values()) {
        for (const [index, notification] of notifications.entries()) {
          if (outcomes[index]?.kind === 'settled') continue;
          const outcome = await settleOne(notification, run);
          outcomes[index] = outcome;
          hasProgress ||= outcome.kind === 'settled';
        }
      }
    }
    for (const callback of conclusionOrder(run)) await conclude(callback, run);
  }

  async function conclude(callback: OpenCallback, { context, options }: SettlementRun): Promise<void> {
    const { callbackId } = callback;
    const target = { aggregate: paymentCallbackAggregate, id: callbackId };
    const outcomes = callback.outcomes.filter((outcome) => outcome !== undefined);
    const reason = holdReasonOf(outcomes);
    if (reason === null) {
      const command = { type: 'Settle', ...mainDisposition(outcomes) } as const;
      await handler.handle(target, command, stepContext(context, `${callbackId}/settle`), options);
      return;
    }
    await hold(callback, reason, { context, options });
  }

  /**
   * Holds a callback. Its notifications may hold it in turn and a reason may come again, so the command id contains the
   * revision, and the append applies only there. If another process was faster, this repeats at the new revision.
   */
  async function hold(
    { callbackId, revision }: Pick<OpenCallback, 'callbackId' | 'revision'>,
    reason: HoldReason,
    { context, options }: Pick<SettlementRun, 'context' | 'options'>,
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

  async function settleOne(notification: Notification, run: SettlementRun): Promise<SettlementOutcome> {
    const { callback, content, name, resolution } = notification;
    if (content.fact.kind === 'nothing') return ignored;
    if (content.fact.kind === 'unreadable') return unlessResolved(resolution, 'unreadable');
    const destination = await findDestination(notification, run);
    if (destination.kind === 'dismissed') return ignored;
    if (destination.kind === 'waits') return { kind: 'held', reason: whyItWaits(destination, content) };
    const { orderId } = destination;
    const order = destination.order ?? (await existingOrder(orderId, run));
    const report: ReportedFact = {
      callback: name,
      transactionId: content.transaction_id,
      fact: content.fact,
      at: new Date(content.at ?? callback.received_at),
    };
    const link = await linkTo({ orderId, order }, notification, run);
    const isRecorded = await appendReport(
      orderId,
      link.kind === 'mismatch'
        ? { type: 'ReportMismatch', report, provider: callback.provider, reason: link.reason }
        : { type: 'Report', report },
      run,
    );
    if (link.kind === 'linked') await includeParked(link.transaction, run);
    if (!isRecorded) return unlessResolved(resolution, 'order_full');
    return { kind: 'settled', disposition: await dispositionIn(orderId, name, run), orderId };
  }

  /** Appends a report to the order. Returns false where it is full and one of its mismatches is in review. */
  async function appendReport(
    orderId: string,
    command: Extract<OrderCommand, { readonly report: ReportedFact }>,
    { context, options }: SettlementRun,
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

  /** Links the transaction of a notification to the order, or returns why they do not belong together. */
  async function linkTo(
    { orderId, order }: { readonly orderId: string; readonly order: PlacedOrder },
    { callback, content, name }: Notification,
    { context, options }: SettlementRun,
  ): Promise<Link> {
    // See docs/decisions/0015-orders-and-the-settling-of-payments.md#decision: only the order's own platform pays it.
    if (!callback.is_ours || order.provider !== callback.provider) return mismatch('merchant');
    if (content.transaction_id === null) return { kind: 'unnamed' };
    const transaction = transactionStreamId(callback.provider, content.transaction_id);
    try {
      await handler.handle(
        { aggregate: transactionAggregate, id: transaction },
        { type: 'Link', orderId },
        stepContext(context, `${name}/link`),
        // A payment is usually the first fact of its transaction, so its stream is assumed to be new.
        content.fact.kind === 'paid' && options.load === 'remembered' ? { ...options, load: 'new' } : options,
      );
      return { kind: 'linked', transaction };
    } catch (error) {
      if (isRejection(error, 'transaction_of_another_order')) return mismatch('transaction_of_another_order');
      throw error;
    }
  }

  async function existingOrder(orderId: string, run: SettlementRun): Promise<PlacedOrder> {
    const order = await placedOrder(orderId, run);
    if (order === null) throw new Error('an order that a transaction belongs to is gone');
    return order;
  }

  /** A cached order is enough: its platform never changes, and an order that does not exist is not cached. */
  async function placedOrder(orderId: string, { load }: SettlementRun): Promise<PlacedOrder | null> {
    const { state } = await handler.load(orderAggregate, orderId, load);
    return state.status === 'placed' ? state : null;
  }

  /**
   * Reads the disposition from the order after its report, so that a repetition after a crash returns the same one. The
   * report has left at least that revision in the cache.
   */
  async function dispositionIn(orderId: string, name: string, run: SettlementRun): Promise<Disposition> {
    const { seen } = (await placedOrder(orderId, run)) ?? { seen: new Set<string>() };
    if (seen.has(`PaymentMismatchFound/${name}`)) return 'mismatch';
    return [...seen].some((entry) => entry.endsWith(`/${name}`)) ? 'applied' : 'already_applied';
  }
}

function mismatch(reason: Extract<Link, { kind: 'mismatch' }>['reason']): Link {
  return { kind: 'mismatch', reason };
}

function isOwed(state: PaymentCallbackState): boolean {
  if (state.status === 'absent' || state.disposition !== null) return false;
  return state.held === null || state.resolution !== null;
}
