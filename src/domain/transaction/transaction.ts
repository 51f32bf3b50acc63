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
  readonly unparked: ReadonlySet<string>;
}

export type TransactionCommand =
  | { readonly type: 'Link'; readonly orderId: string }
  | { readonly type: 'Park' | 'Unpark'; readonly callback: string };

/** How much waits for one transaction at most, so that its stream does not grow without bound (decision 0023). */
export const parkedMax = 500;

const initialState: TransactionState = { orderId: null, parked: new Set(), unparked: new Set() };

function evolve(state: TransactionState, event: TransactionEvent): TransactionState {
  switch (event.type) {
    case 'TransactionLinked':
      return { ...state, orderId: event.data.order_id };
    case 'CallbackParked':
      return { ...state, parked: new Set(state.parked).add(event.data.callback) };
    case 'CallbackUnparked': {
      const { callback } = event.data;
      const parked = new Set(state.parked);
      parked.delete(callback);
      return { ...state, parked, unparked: new Set(state.unparked).add(callback) };
    }
  }
}

function decide(
  command: TransactionCommand,
  { orderId, parked, unparked }: TransactionState,
): readonly TransactionEvent[] {
  switch (command.type) {
    case 'Link':
      if (orderId === command.orderId) return [];
      if (orderId !== null) {
        rejectTransaction('transaction_of_another_order', 'the transaction has paid another order');
      }
      return [{ type: 'TransactionLinked', data: { order_id: command.orderId } }];
    case 'Park':
      if (parked.has(command.callback) || unparked.has(command.callback)) return [];
      if (orderId !== null) rejectTransaction('transaction_linked', 'the transaction belongs to an order');
      if (parked.size >= parkedMax) {
        rejectTransaction('transaction_full', 'too much waits for this transaction already');
      }
      return [{ type: 'CallbackParked', data: { callback: command.callback } }];
    case 'Unpark':
      if (unparked.has(command.callback)) return [];
      if (orderId !== null) rejectTransaction('transaction_linked', 'the transaction belongs to an order');
      return [{ type: 'CallbackUnparked', data: { callback: command.callback } }];
  }
}

export const transactionAggregate: Aggregate<TransactionState, TransactionCommand, TransactionEvent> = {
  category: transactionCategory,
  codec: transactionCodec,
  decider: { initialState, decide, evolve },
};
