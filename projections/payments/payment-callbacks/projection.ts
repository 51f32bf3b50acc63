import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import {
  paymentCallbackCodec,
  type PaymentCallbackEvent,
  paymentCallbackCategory,
} from '../../../src/areas/payments/domain/payment-callback/events.js';
import { type DecisionEntry, decisionOf, type RecordedEntry } from '../payment-decisions/entry.js';
import type {
  Disposition,
  PaymentProviderName,
  PaymentNotification,
} from '../../../src/areas/payments/domain/payment.js';

export type PaymentCallbackDocument = {
  readonly provider: PaymentProviderName;
  readonly is_ours: boolean;
  readonly notifications: readonly PaymentNotification[];
  /** What an earlier release settled it as; else null. */
  readonly disposition: Disposition | null;
  readonly order_id: string | null;
  /** An operator's decision; null if there is none. */
  readonly decision: DecisionEntry | null;
  /** The order that the decision applied it to; null otherwise. */
  readonly applied_to: string | null;
  /** The operator's record; null for a callback of the platform. */
  readonly recorded: RecordedEntry | null;
  /** The first transaction that it names; null if it names none. */
  readonly transaction_id: string | null;
  /** Counts the other contents under the same key. */
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
      disposition: null,
      order_id: null,
      decision: null,
      applied_to: null,
      recorded: null,
      transaction_id: firstTransaction(notifications),
      conflicts: 0,
      received_at,
    };
  }
  if (document === null) return null;
  switch (event.type) {
    case 'PaymentCallbackHeld':
      return document;
    case 'PaymentCallbackResolved':
      return {
        ...document,
        decision: decisionOf(event, { ...event.data, payment_id: paymentIdOf(event) }),
        applied_to: event.data.order_id,
      };
    case 'PaymentCallbackSettled':
      return { ...document, ...event.data };
    case 'PaymentCallbackRecorded': {
      const { note, note_of } = event.data;
      return { ...document, recorded: { note, note_of, by: event.metadata.actor, at: event.time } };
    }
    case 'PaymentCallbackConflicted':
      return { ...document, conflicts: document.conflicts + 1 };
  }
}

function firstTransaction(notifications: readonly PaymentNotification[]): string | null {
  return notifications.find(({ transaction_id }) => transaction_id !== null)?.transaction_id ?? null;
}

function paymentIdOf({ stream }: { readonly stream: string }): string {
  return stream.slice(paymentCallbackCategory.length + 1);
}

export const paymentCallbacksProjection: Projection<PaymentCallbackDocument, PaymentCallbackEvent> = {
  name: 'payment_callbacks',
  version: 5,
  category: paymentCallbackCategory,
  codec: paymentCallbackCodec,
  indexes: ['applied_to', 'transaction_id'],
  evolve,
};
