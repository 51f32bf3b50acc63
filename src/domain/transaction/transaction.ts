import type { Aggregate } from '../../event-sourcing/deciding/decider.js';
import { transactionCodec, type TransactionEvent, transactionCategory } from './events.js';
import { rejectTransaction } from './rejections.js';

/** The link of a platform's transaction to at most one order (docs/design.md#settling). */
export interface TransactionState {
  /** Null until it is linked. */
  readonly orderId: string | null;
  /** Callbacks that wait for the link. */
  readonly parked: ReadonlySet<string>;
  /** Callbacks that an operator decided on before the link. They are settled by that decision, not by the link. */
  readonly unparked: Unparked | null;
}

/** A linked list: it has no bound, and an addition costs the same at every length. */
interface Unparked {
  readonly callback: string;
  readonly count: number;
  readonly before: Unparked | null;
}

export type TransactionCommand =
  | { readonly type: 'Link'; readonly orderId: string }
  | { readonly type: 'Park' | 'Unpark'; readonly callback: string };

/**
 * The maximum of parked and unparked callbacks together. Beyond it, only decisions of operators make the stream grow
 * (docs/decisions/0023-what-waits-for-ever.md#decision).
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

/** Returns whether an operator decided on the callback before the link. */
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
