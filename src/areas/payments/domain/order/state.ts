import type { PaymentProviderName, PaymentAction } from '../payment.js';
import type { OrderEvent, OrderGrant } from './events.js';
import { applyEvent, newOrder, type OrderFields } from './fold.js';

export type OrderState = { readonly status: 'absent' } | PlacedOrder;

export interface PlacedOrder extends OrderFields {
  readonly status: 'placed';
  readonly userId: string;
  readonly projectId: string | null;
  readonly planId: string;
  readonly grant: OrderGrant;
  readonly provider: PaymentProviderName;
  readonly expiresAt: Date;
  /** The decisions by name of the mismatch. */
  readonly resolved: ReadonlyMap<string, Resolution>;
  /** `<event type>/<name of the report>` of every event that a report caused. */
  readonly seen: ReadonlySet<string>;
}

export interface Resolution {
  readonly action: PaymentAction;
  readonly noteDigest: string;
}

export function evolve(state: OrderState, event: OrderEvent): OrderState {
  if (event.type === 'OrderPlaced') {
    const { data } = event;
    return {
      status: 'placed',
      userId: data.user_id,
      projectId: data.project_id,
      planId: data.plan_id,
      grant: data.grant,
      provider: data.provider,
      expiresAt: new Date(data.expires_at),
      ...newOrder(data),
      resolved: new Map(),
      seen: new Set(),
    };
  }
  if (state.status === 'absent') return state;
  const [resolved, seen] = [resolvedAfter(state, event), seenAfter(state, event)];
  return { ...state, ...applyEvent(state, event), resolved, seen };
}

function resolvedAfter({ resolved }: PlacedOrder, event: OrderEvent): PlacedOrder['resolved'] {
  if (event.type !== 'ReviewResolved') return resolved;
  const { callback, action, note_digest: noteDigest } = event.data;
  return new Map(resolved).set(callback, { action, noteDigest });
}

function seenAfter({ seen }: PlacedOrder, event: OrderEvent): ReadonlySet<string> {
  return 'callback' in event.data ? new Set(seen).add(`${event.type}/${event.data.callback}`) : seen;
}
