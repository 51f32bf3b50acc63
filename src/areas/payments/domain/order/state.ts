import type { PaymentAction } from '../payment.js';
import type { OrderEvent } from './events.js';
import { type OrderFields, applyEvent, newOrder } from './fold.js';
import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

export type OrderRejection =
  | 'order_not_found'
  /** The order was paid or canceled, or has expired. */
  | 'order_not_open'
  /** The buyer has paid, and the platform still decides. */
  | 'payment_pending'
  | 'order_limit_reached'
  /** The plan does not exist, or has no price in this currency. */
  /** No mismatch of this name waits for a decision. */
  | 'review_not_open'
  /** An operator has made another decision. */
  | 'review_resolved'
  /** What an operator records cannot be true beside what the order knows. */
  | 'record_contradicts'
  /** The mismatch is not a payment, or its transaction pays another order. */
  | 'review_not_applicable';

export function rejectOrder(code: OrderRejection, message: string): never {
  throw new CommandRejected<OrderRejection>(code, message);
}

export type OrderState = { readonly status: 'absent' } | PlacedOrder;

export type OrderPlaced = Extract<OrderEvent, { type: 'OrderPlaced' }>['data'];

export interface PlacedOrder extends OrderFields, Omit<OrderPlaced, 'amount' | 'currency'> {
  readonly status: 'placed';
  /** The decisions by name of the mismatch. */
  readonly resolved: ReadonlyMap<string, { readonly action: PaymentAction; readonly note_digest: string }>;
  /** `<event type>/<name of the report>` of every event that a report caused. */
  readonly seen: ReadonlySet<string>;
}

export function evolve(state: OrderState, event: OrderEvent): OrderState {
  if (event.type === 'OrderPlaced') {
    const { data } = event;
    return { ...data, status: 'placed', ...newOrder(data), resolved: new Map(), seen: new Set() };
  }
  if (state.status === 'absent') return state;
  const [resolved, seen] = [resolvedAfter(state, event), seenAfter(state, event)];
  return { ...state, ...applyEvent(state, event), resolved, seen };
}

function resolvedAfter({ resolved }: PlacedOrder, event: OrderEvent): PlacedOrder['resolved'] {
  if (event.type !== 'ReviewResolved') return resolved;
  const { callback, action, note_digest } = event.data;
  return new Map(resolved).set(callback, { action, note_digest });
}

function seenAfter({ seen }: PlacedOrder, event: OrderEvent): ReadonlySet<string> {
  return 'callback' in event.data ? new Set(seen).add(`${event.type}/${event.data.callback}`) : seen;
}
