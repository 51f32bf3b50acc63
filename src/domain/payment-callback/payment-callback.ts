import { isDeepStrictEqual } from 'node:util';
import type { Aggregate } from '../../event-sourcing/deciding/decider.js';
import type { ResolutionNote, PaymentAction } from '../payment.js';
import {
  paymentCallbackCodec,
  type PaymentCallbackEvent,
  type ReceivedCallback,
  paymentCallbackCategory,
} from './events.js';
import type { HoldReason } from './hold-reason.js';
import { rejectPaymentCallback } from './rejections.js';
import type { Disposition } from './status.js';

export type PaymentCallbackState =
  | { readonly status: 'absent' }
  | {
      readonly status: 'received';
      readonly callback: ReceivedCallback;
      /** The last reason to wait; null if it never waited or is settled. */
      readonly held: HoldReason | null;
      /** An operator's decision; null if there is none. */
      readonly resolution: CallbackResolution | null;
      /** Null until it is settled. */
      readonly disposition: Disposition | null;
      /** The order that it was settled with. */
      readonly orderId: string | null;
      /** Digests of the other contents under the same key. */
      readonly conflicts: ReadonlySet<string>;
    };

export interface CallbackResolution {
  readonly action: PaymentAction;
  /** Null if it is dismissed. */
  readonly orderId: string | null;
  readonly noteDigest: string;
}

export type PaymentCallbackCommand =
  | { readonly type: 'Receive'; readonly callback: ReceivedCallback }
  /** A report that an operator records by hand. The same one again appends nothing. */
  | { readonly type: 'Record'; readonly callback: ReceivedCallback; readonly note: ResolutionNote }
  | { readonly type: 'Hold'; readonly reason: HoldReason }
  | {
      readonly type: 'Resolve';
      readonly decision: Pick<CallbackResolution, 'action' | 'orderId'>;
      readonly note: ResolutionNote;
    }
  | { readonly type: 'Settle'; readonly disposition: Disposition; readonly orderId: string | null };

const initialState: PaymentCallbackState = { status: 'absent' };

function evolve(state: PaymentCallbackState, event: PaymentCallbackEvent): PaymentCallbackState {
  if (event.type === 'PaymentCallbackReceived') {
    return {
      status: 'received',
      callback: event.data,
      held: null,
      resolution: null,
      disposition: null,
      orderId: null,
      conflicts: new Set(),
    };
  }
  if (state.status === 'absent') return state;
  switch (event.type) {
    case 'PaymentCallbackHeld':
      return { ...state, held: event.data.reason };
    case 'PaymentCallbackResolved': {
      const { action, order_id: orderId, note_digest: noteDigest } = event.data;
      return { ...state, resolution: { action, orderId, noteDigest } };
    }
    case 'PaymentCallbackSettled':
      return { ...state, held: null, disposition: event.data.disposition, orderId: event.data.order_id };
    case 'PaymentCallbackRecorded':
      return state;
    case 'PaymentCallbackConflicted':
      return { ...state, conflicts: new Set(state.conflicts).add(event.data.fields_digest) };
  }
}

function decide(
  command: PaymentCallbackCommand,
  state: PaymentCallbackState,
): readonly PaymentCallbackEvent[] {
  if (command.type === 'Receive') return receive(command.callback, state);
  if (command.type === 'Record') {
    const received = receive(command.callback, state);
    return received.length === 0
      ? []
      : [...received, { type: 'PaymentCallbackRecorded', data: command.note }];
  }
  if (state.status === 'absent') {
    return rejectPaymentCallback('payment_callback_not_found', 'there is no such payment callback');
  }
  if (command.type === 'Resolve') return resolve(command, state);
  // A callback has exactly one disposition.
  if (state.disposition !== null) return [];
  switch (command.type) {
    case 'Hold':
      // An operator's decision ends the wait.
      if (state.held === command.reason || state.resolution !== null) return [];
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

/** A repeated decision appends nothing. A different later one is rejected. */
function resolve(
  { decision, note }: Extract<PaymentCallbackCommand, { type: 'Resolve' }>,
  { held, resolution, disposition }: Extract<PaymentCallbackState, { status: 'received' }>,
): readonly PaymentCallbackEvent[] {
  const { action, orderId } = decision;
  if (resolution !== null) {
    if (isDeepStrictEqual(resolution, { action, orderId, noteDigest: note.note_digest })) return [];
    rejectPaymentCallback('payment_callback_resolved', 'somebody has decided otherwise on this payment');
  }
  if (disposition !== null || held === null) {
    rejectPaymentCallback('payment_callback_not_held', 'nothing of this payment waits for a decision');
  }
  if (action === 'apply' && held === 'unreadable') {
    rejectPaymentCallback('payment_callback_unreadable', 'what the platform says cannot be read; dismiss it');
  }
  if (action === 'apply' && held === 'order_full') {
    rejectPaymentCallback('payment_callback_order_full', 'its order keeps no more reports; dismiss it');
  }
  return [{ type: 'PaymentCallbackResolved', data: { action, order_id: orderId, ...note } }];
}

/** Bounds the recorded conflicts: docs/decisions/0014-what-a-payment-callback-is-verified-into.md#decision. */
export const conflictsMax = 10;

/** A duplicate appends nothing. Other content under the same key is recorded once, for the first `conflictsMax`. */
function receive(callback: ReceivedCallback, state: PaymentCallbackState): readonly PaymentCallbackEvent[] {
  if (state.status === 'absent') return [{ type: 'PaymentCallbackReceived', data: callback }];
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
  decider: { initialState, decide, evolve },
};
