import type { Aggregate } from '../../../../event-sourcing/deciding/decider.js';
import { conflictsMax, type ResolutionNote } from '../payment.js';
import {
  paymentCallbackCodec,
  type PaymentCallbackEvent,
  type ReceivedCallback,
  paymentCallbackCategory,
} from './events.js';

/** A callback whose notifications are passed on to the streams of their transactions. */
export interface PaymentCallbackState {
  /** Null: none was received under the key. */
  readonly callback: ReceivedCallback | null;
  /** Digests of the other contents under the same key. */
  readonly conflicts: readonly string[];
}

const initialState: PaymentCallbackState = { callback: null, conflicts: [] };

export interface PaymentCallbackCommand {
  readonly type: 'Receive';
  readonly callback: ReceivedCallback;
  /** Of an operator who records the report by hand. The same report again appends nothing. */
  readonly note?: ResolutionNote;
}

function evolve(state: PaymentCallbackState, event: PaymentCallbackEvent): PaymentCallbackState {
  switch (event.type) {
    case 'PaymentCallbackReceived':
      return { ...state, callback: event.data };
    case 'PaymentCallbackConflicted':
      return { ...state, conflicts: [...state.conflicts, event.data.fields_digest] };
    case 'PaymentCallbackRecorded':
      return state;
  }
}

/** A duplicate appends nothing. Other content under the same key is recorded once, for the first `conflictsMax`. */
function decide(
  { callback, note }: PaymentCallbackCommand,
  { callback: known, conflicts }: PaymentCallbackState,
): readonly PaymentCallbackEvent[] {
  if (known === null) {
    const received = { type: 'PaymentCallbackReceived', data: callback } as const;
    return note === undefined ? [received] : [received, { type: 'PaymentCallbackRecorded', data: note }];
  }
  const { fields_digest } = callback;
  const isKnown = fields_digest === known.fields_digest || conflicts.includes(fields_digest);
  if (isKnown || conflicts.length >= conflictsMax) return [];
  return [{ type: 'PaymentCallbackConflicted', data: { fields_digest } }];
}

export const paymentCallbackAggregate: Aggregate<
  PaymentCallbackState,
  PaymentCallbackCommand,
  PaymentCallbackEvent
> = {
  category: paymentCallbackCategory,
  codec: paymentCallbackCodec,
  decider: { initialState, decide, evolve },
};
