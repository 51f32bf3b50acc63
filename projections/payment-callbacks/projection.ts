import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import {
  type Disposition,
  type HoldReason,
  paymentCallbackCodec,
  type PaymentCallbackEvent,
} from '../../src/domain/payment-callback/events.js';
import { paymentCallbackCategory } from '../../src/domain/payment-callback/stream.js';
import { type DecisionEntry, decisionOf } from '../payment-decisions/entry.js';
import type { PaymentProviderName, RecordedNotification } from '../../src/domain/payment.js';

export type PaymentCallbackDocument = {
  readonly provider: PaymentProviderName;
  readonly is_ours: boolean;
  readonly notifications: readonly RecordedNotification[];
  /** Why it waits; null where it does not. */
  readonly held: HoldReason | null;
  /** When it was received, while it waits for somebody's decision; null otherwise. */
  readonly unmatched_since: string | null;
  readonly disposition: Disposition | null;
  readonly order_id: string | null;
  /** What somebody has decided on it; null while nobody has. */
  readonly decision: DecisionEntry | null;
  /** The order that it was applied to by that; null otherwise. */
  readonly applied_to: string | null;
  /** How often other content came under its name. */
  readonly conflicts: number;
  readonly received_at: string;
};

function evolve(
  document: PaymentCallbackDocument | null,
  event: Recorded<PaymentCallbackEvent>,
): PaymentCallbackDocument | null {
  if (event.type === 'PaymentCallbackReceived') {
    const { provider, is_ours, notifications, received_at } = event.data;
    return {
      provider,
      is_ours,
      notifications,
      held: null,
      unmatched_since: null,
      disposition: null,
      order_id: null,
      decision: null,
      applied_to: null,
      conflicts: 0,
      received_at,
    };
  }
  if (document === null) return null;
  switch (event.type) {
    case 'PaymentCallbackHeld':
      return { ...document, held: event.data.reason, unmatched_since: document.received_at };
    case 'PaymentCallbackResolved':
      return {
        ...document,
        unmatched_since: null,
        decision: decisionOf(event, { ...event.data, payment_id: paymentIdOf(event) }),
        applied_to: event.data.order_id,
      };
    case 'PaymentCallbackSettled':
      return { ...document, ...event.data, held: null, unmatched_since: null };
    case 'PaymentCallbackConflicted':
      return { ...document, conflicts: document.conflicts + 1 };
  }
}

function paymentIdOf({ stream }: { readonly stream: string }): string {
  return stream.slice(paymentCallbackCategory.length + 1);
}

export const paymentCallbacksProjection: Projection<PaymentCallbackDocument, PaymentCallbackEvent> = {
  name: 'payment_callbacks',
  version: 3,
  category: paymentCallbackCategory,
  codec: paymentCallbackCodec,
  indexes: ['unmatched_since', 'applied_to'],
  evolve,
};
