import type { Aggregate } from '../../event-sourcing/decider.js';
import { transactionCodec, type TransactionEvent } from './events.js';
import { rejectTransaction } from './rejections.js';
import { transactionCategory } from './stream.js';

/** Which order a platform's payment belongs to: at most one (DESIGN 3, Callbacks). */
export interface TransactionState {
  /** Null until it is linked. */
  readonly orderId: string | null;
  /** Callbacks that wait for that. */
  readonly parked: ReadonlySet<string>;
  /** Those that were decided on first. Whoever settles one of them follows that decision, whatever it is linked to later. */
  readonly unparked: Unparked | null;
}

/** The last one, and those before it: they have no bound, and one more costs the same however many there are. */
interface Unparked {
  readonly callback: string;
  readonly count: number;
  readonly before: Unparked | null;
}

export type TransactionCommand =
  | { readonly type: 'Link'; readonly orderId: string }
  | { readonly type: 'Park' | 'Unpark'; readonly callback: string };

/**
 * How much waits for one transaction at most, together with what was decided on first, so that nothing but decisions of people
 * makes its stream grow (decision 0023).
 */
export const parkedMax = 500;

const initialState: TransactionState = { orderId: null, parked: new Set(), unparked: null };

function evolve(state: TransactionState, event: TransactionEvent): TransactionState {
  switch (event.type) {
    case 'TransactionLinked':
      return { ...state, orderId: event.data.order_id };
    case 'CallbackParked':
      return { ...state, parked: new Set(state.parked).add(event.data.callback) };
    case 'CallbackUnparked': {
      const { callback } = event.data;
      const unparked = { callback, count: countOf(state.unparked) + 1, before: state.unparked };
      if (!state.parked.has(callback)) return { ...state, unparked };
      const parked = new Set(state.parked);
      parked.delete(callback);
      return { ...state, parked, unparked };
    }
  }
}

/** Whether the callback was decided on before the transaction was linked. */
export function isUnparked({ unparked }: TransactionState, callback: string): boolean {
  for (let each = unparked; each !== null; each = each.before) {
    if (each.callback === callback) return true;
  }
  return false;
}

function countOf(unparked: Unparked | null): number {
  return unparked?.count ?? 0;
}

function decide(command: TransactionCommand, state: TransactionState): readonly TransactionEvent[] {
  const { orderId, parked, unparked } = state;
  switch (command.type) {
    case 'Link':
      if (orderId === command.orderId) return [];
      if (orderId !== null) {
        rejectTransaction('transaction_of_another_order', 'the transaction has paid another order');
      }
      return [{ type: 'TransactionLinked', data: { order_id: command.orderId } }];
    case 'Park':
      if (parked.has(command.callback) || isUnparked(state, command.callback)) return [];
      if (orderId !== null) rejectTransaction('transaction_linked', 'the transaction belongs to an order');
      if (parked.size + countOf(unparked) >= parkedMax) {
        rejectTransaction('transaction_full', 'too much waits, or has waited, for this transaction already');
      }
      return [{ type: 'CallbackParked', data: { callback: command.callback } }];
    case 'Unpark':
      if (isUnparked(state, command.callback)) return [];
      if (orderId !== null) rejectTransaction('transaction_linked', 'the transaction belongs to an order');
      return [{ type: 'CallbackUnparked', data: { callback: command.callback } }];
  }
}

export const transactionAggregate: Aggregate<TransactionState, TransactionCommand, TransactionEvent> = {
  category: transactionCategory,
  codec: transactionCodec,
  decider: { initialState, decide, evolve },
};
