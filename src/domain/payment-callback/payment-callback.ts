import type { Aggregate } from '../../event-sourcing/deciding/decider.js';
import { conflictsMax, type ResolutionNote } from '../payment.js';
import {
  paymentCallbackCodec,
  type PaymentCallbackEvent,
  type ReceivedCallback,
  paymentCallbackCategory,
} from './events.js';

/** A callback whose notifications are passed on to the streams of their transactions. */
export type PaymentCallbackState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'received';
      readonly callback: ReceivedCallback;
      /** Whether an earlier release settled it, or an operator dismissed it. */
      readonly isDone: boolean;
      /** The order to which an operator applied it with an earlier release. */
      readonly appliedTo: string | null;
      /** Digests of the other contents under the same key. */
      readonly conflicts: ReadonlySet<string>;
    };

export interface PaymentCallbackCommand {
  readonly type: 'Receive';
  readonly callback: ReceivedCallback;
  /** Of an operator who records the report by hand. The same report again appends nothing. */
  readonly note?: ResolutionNote;
}

function evolve(state: PaymentCallbackState, event: PaymentCallbackEvent): PaymentCallbackState {
  if (event.type === 'PaymentCallbackReceived') {
    return { status: 'received', callback: event.data, isDone: false, appliedTo: null, conflicts: new Set() };
  }
  if (state.status === 'absent') return state;
  switch (event.type) {
    case 'PaymentCallbackResolved':
      return { ...state, isDone: event.data.action === 'dismiss', appliedTo: event.data.order_id };
    case 'PaymentCallbackSettled':
      return { ...state, isDone: true };
    case 'PaymentCallbackConflicted':
      return { ...state, conflicts: new Set(state.conflicts).add(event.data.fields_digest) };
    case 'PaymentCallbackHeld':
    case 'PaymentCallbackRecorded':
      return state;
  }
}

/** A duplicate appends nothing. Other content under the same key is recorded once, for the first `conflictsMax`. */
function decide(
  { callback, note }: PaymentCallbackCommand,
  state: PaymentCallbackState,
): readonly PaymentCallbackEvent[] {
  if (state.status === 'absent') {
    const received = { type: 'PaymentCallbackReceived', data: callback } as const;
    return note === undefined ? [received] : [received, { type: 'PaymentCallbackRecorded', data: note }];
  }
  const { fields_digest } = callback;
  if (fields_digest === state.callback.fields_digest || state.conflicts.has(fields_digest)) return [];
  if (state.conflicts.size >= conflictsMax) return [];
  return [{ type: 'PaymentCallbackConflicted', data: { fields_digest } }];
}

export const paymentCallbackAggregate: Aggregate<
  PaymentCallbackState,
  PaymentCallbackCommand,
  PaymentCallbackEvent
> = {
  category: paymentCallbackCategory,
  codec: paymentCallbackCodec,
  decider: { initialState: { status: 'absent' }, decide, evolve },
};
