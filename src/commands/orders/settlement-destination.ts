import type { Deps } from '../deps.js';
import { stepContext } from '../../event-sourcing/deciding/ids.js';
import type { HoldReason } from '../../domain/payment-callback/hold-reason.js';
import type { CallbackResolution } from '../../domain/payment-callback/payment-callback.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import type { PlacedOrder } from '../../domain/order/order.js';
import { isUnparked, transactionAggregate } from '../../domain/transaction/transaction.js';
import { transactionStreamId } from './payment-ids.js';
import { isRejection } from '../shared/rejections.js';
import type { Notification, SettlementRun } from './settlement-run.js';

export type Destination =
  /** `order` is present where it has already been read. */
  | { readonly kind: 'order'; readonly orderId: string; readonly order?: PlacedOrder }
  /** It is parked on its transaction, if it names one. `isFull`: the transaction parks no more. */
  | { readonly kind: 'waits'; readonly isFull?: true }
  /** An operator dismissed the callback. */
  | { readonly kind: 'dismissed' };

/**
 * Finds the order that a notification names, or that its transaction is linked to. Otherwise the operator's decision
 * counts; without one the callback is parked on the transaction. The first of a link and a decision counts.
 * @throws StoreUnavailable, Overloaded
 */
export type FindDestination = (notification: Notification, run: SettlementRun) => Promise<Destination>;

export function makeFindDestination({
  handler,
  placedOrder,
}: Pick<Deps, 'handler'> & {
  /** Reads an order; null where it does not exist. */
  readonly placedOrder: (orderId: string, run: SettlementRun) => Promise<PlacedOrder | null>;
}): FindDestination {
  return async ({ callbackId, callback, name, content, resolution }, run) => {
    const { context, options } = run;
    const { order_number: number, transaction_id } = content;
    const byNumber = number === null ? null : parseOrderNumber(number);
    const numbered = byNumber === null ? null : await placedOrder(byNumber, run);
    if (byNumber !== null && numbered !== null) return { kind: 'order', orderId: byNumber, order: numbered };
    const decided = destinationOf(resolution);
    if (transaction_id === null) return decided;
    const id = transactionStreamId(callback.provider, transaction_id);
    const target = { aggregate: transactionAggregate, id };
    const { state } = await handler.load(transactionAggregate, id);
    if (isUnparked(state, callbackId)) return decided;
    if (state.orderId !== null) return { kind: 'order', orderId: state.orderId };
    const [type, step] = resolution === null ? (['Park', 'park'] as const) : (['Unpark', 'unpark'] as const);
    try {
      const command = { type, callback: callbackId };
      await handler.handle(target, command, stepContext(context, `${name}/${step}`), options);
      return decided;
    } catch (error) {
      return await destinationAfter(error, id, decided);
    }
  };

  /** Returns the destination after the transaction refused to park or unpark the callback. */
  async function destinationAfter(refusal: unknown, id: string, decided: Destination): Promise<Destination> {
    if (isRejection(refusal, 'transaction_full')) return { kind: 'waits', isFull: true };
    // Another process linked the transaction meanwhile, and did not see this callback among the parked ones.
    if (!isRejection(refusal, 'transaction_linked')) throw refusal;
    const { orderId } = (await handler.load(transactionAggregate, id)).state;
    return orderId === null ? decided : { kind: 'order', orderId };
  }
}

/** Returns the reason for which a notification holds its callback. */
export function whyItWaits(
  { isFull }: Extract<Destination, { kind: 'waits' }>,
  { order_number: number }: Notification['content'],
): HoldReason {
  if (isFull === true) return 'transaction_full';
  return number === null ? 'unlinked_transaction' : 'unknown_order';
}

function destinationOf(resolution: CallbackResolution | null): Destination {
  if (resolution === null) return { kind: 'waits' };
  const { orderId } = resolution;
  return orderId === null ? { kind: 'dismissed' } : { kind: 'order', orderId };
}
