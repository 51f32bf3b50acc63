import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { stepContext } from '../event-sourcing/ids.js';
import type { HoldReason } from '../domain/payment-callback/events.js';
import type { CallbackResolution } from '../domain/payment-callback/payment-callback.js';
import { parseOrderNumber } from '../domain/order/number.js';
import type { PlacedOrder } from '../domain/order/order.js';
import { isUnparked, transactionAggregate } from '../domain/transaction/transaction.js';
import { transactionStreamId } from './payment-ids.js';
import { isRejection } from './rejections.js';
import type { Notification, Run } from './settlement-run.js';

/** Where a notification goes. */
export type Destination =
  /** The order itself, where it has been looked for already. */
  | { readonly kind: 'order'; readonly orderId: string; readonly order?: PlacedOrder }
  /** `isFull`: not even on its transaction, for which so much waits already. */
  | { readonly kind: 'waits'; readonly isFull?: true }
  /** Somebody has decided that it goes nowhere. */
  | { readonly kind: 'dismissed' };

/**
 * The order that it names or whose transaction it is. Else it waits, parked on the transaction, or goes where somebody has
 * decided. A link and a decision meet at the transaction: the one that came first there stands, for whoever settles this.
 * @throws StoreUnavailable, Overloaded
 */
export type FindDestination = (notification: Notification, run: Run) => Promise<Destination>;

export function makeFindDestination({
  handler,
  placedOrder,
}: {
  readonly handler: CommandHandler;
  /** Null when there is no such order. */
  readonly placedOrder: (orderId: string) => Promise<PlacedOrder | null>;
}): FindDestination {
  return async ({ callbackId, callback, name, told, resolution }, { context, options }) => {
    const byNumber = told.order_number === null ? null : parseOrderNumber(told.order_number);
    const numbered = byNumber === null ? null : await placedOrder(byNumber);
    if (byNumber !== null && numbered !== null) return { kind: 'order', orderId: byNumber, order: numbered };
    const decided = destinationOf(resolution);
    if (told.transaction_id === null) return decided;
    const id = transactionStreamId(callback.provider, told.transaction_id);
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

  /** Where it goes that was not to be parked, or taken off, there. */
  async function destinationAfter(refusal: unknown, id: string, decided: Destination): Promise<Destination> {
    if (isRejection(refusal, 'transaction_full')) return { kind: 'waits', isFull: true };
    // It was linked a moment ago, and whoever did so has not seen this callback among those that wait.
    if (!isRejection(refusal, 'transaction_linked')) throw refusal;
    const { orderId } = (await handler.load(transactionAggregate, id)).state;
    return orderId === null ? decided : { kind: 'order', orderId };
  }
}

/** Why a callback that tells this is held. */
export function whyItWaits(
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
