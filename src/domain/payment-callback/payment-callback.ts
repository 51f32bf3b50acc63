import type { Aggregate } from '../../event-sourcing/decider.js';
import {
  type Disposition,
  type HoldReason,
  paymentCallbackCodec,
  type PaymentCallbackEvent,
  type ReceivedCallback,
} from './events.js';
import { rejectPaymentCallback } from './rejections.js';
import { paymentCallbackCategory } from './stream.js';

export type PaymentCallbackState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'received';
      readonly callback: ReceivedCallback;
      /** Why it waits; null: nothing has kept it so far. */
      readonly held: HoldReason | null;
      /** What became of it; null until it is settled. */
      readonly disposition: Disposition | null;
      /** Digests of the other contents that came under its name. */
      readonly conflicts: ReadonlySet<string>;
    };

export type PaymentCallbackCommand =
  | { readonly type: 'Receive'; readonly callback: ReceivedCallback }
  | { readonly type: 'Hold'; readonly reason: HoldReason }
  | { readonly type: 'Settle'; readonly disposition: Disposition; readonly orderId: string | null };

const initialState: PaymentCallbackState = { status: 'absent' };

function evolve(state: PaymentCallbackState, event: PaymentCallbackEvent): PaymentCallbackState {
  if (event.type === 'PaymentCallbackReceived') {
    return {
      status: 'received',
      callback: event.data,
      held: null,
      disposition: null,
      conflicts: new Set(),
    };
  }
  if (state.status === 'absent') return state;
  switch (event.type) {
    case 'PaymentCallbackHeld':
      return { ...state, held: event.data.reason };
    case 'PaymentCallbackSettled':
      return { ...state, held: null, disposition: event.data.disposition };
    case 'PaymentCallbackConflicted':
      return { ...state, conflicts: new Set(state.conflicts).add(event.data.fields_digest) };
  }
}

function decide(
  command: PaymentCallbackCommand,
  state: PaymentCallbackState,
): readonly PaymentCallbackEvent[] {
  if (command.type === 'Receive') return receive(command.callback, state);
  if (state.status === 'absent') {
    return rejectPaymentCallback('payment_callback_not_found', 'there is no such payment callback');
  }
  // What has been settled stays so: exactly one disposition.
  if (state.disposition !== null) return [];
  switch (command.type) {
    case 'Hold':
      if (state.held === command.reason) return [];
      return [{ type: 'PaymentCallbackHeld', data: { reason: command.reason } }];
    case 'Settle':
      return [
        {
          type: 'PaymentCallbackSettled',
          data: { disposition: command.disposition, order_id: command.orderId },
        },
      ];
  }
}

/** A duplicate changes nothing; the same name with other content is told once for each content. */
function receive(callback: ReceivedCallback, state: PaymentCallbackState): readonly PaymentCallbackEvent[] {
  if (state.status === 'absent') return [{ type: 'PaymentCallbackReceived', data: callback }];
  const { fields_digest } = callback;
  if (fields_digest === state.callback.fields_digest || state.conflicts.has(fields_digest)) return [];
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
