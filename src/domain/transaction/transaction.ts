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
}

export type TransactionCommand =
  { readonly type: 'Link'; readonly orderId: string } | { readonly type: 'Park'; readonly callback: string };

const initialState: TransactionState = { orderId: null, parked: new Set() };

function evolve(state: TransactionState, event: TransactionEvent): TransactionState {
  switch (event.type) {
    case 'TransactionLinked':
      return { ...state, orderId: event.data.order_id };
    case 'CallbackParked':
      return { ...state, parked: new Set(state.parked).add(event.data.callback) };
  }
}

function decide(
  command: TransactionCommand,
  { orderId, parked }: TransactionState,
): readonly TransactionEvent[] {
  switch (command.type) {
    case 'Link':
      if (orderId === command.orderId) return [];
      if (orderId !== null) {
        rejectTransaction('transaction_of_another_order', 'the transaction has paid another order');
      }
      return [{ type: 'TransactionLinked', data: { order_id: command.orderId } }];
    case 'Park':
      if (parked.has(command.callback)) return [];
      if (orderId !== null) rejectTransaction('transaction_linked', 'the transaction belongs to an order');
      return [{ type: 'CallbackParked', data: { callback: command.callback } }];
  }
}

export const transactionAggregate: Aggregate<TransactionState, TransactionCommand, TransactionEvent> = {
  category: transactionCategory,
  codec: transactionCodec,
  decider: { initialState, decide, evolve },
};
