import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import {
  paymentCallbackCodec,
  type PaymentCallbackEvent,
  paymentCallbackCategory,
} from '../../../src/areas/payments/domain/payment-callback/events.js';
import type { RecordedEntry } from '../payment-decisions/entry.js';
import type { PaymentProviderName, PaymentNotification } from '../../../src/areas/payments/domain/payment.js';

export type PaymentCallbackDocument = {
  readonly provider: PaymentProviderName;
  readonly is_ours: boolean;
  readonly notifications: readonly PaymentNotification[];
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
      recorded: null,
      transaction_id: firstTransaction(notifications),
      conflicts: 0,
      received_at,
    };
  }
  if (document === null) return null;
  switch (event.type) {
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

export const paymentCallbacksProjection: Projection<PaymentCallbackDocument, PaymentCallbackEvent> = {
  name: 'payment_callbacks',
  version: 5,
  category: paymentCallbackCategory,
  codec: paymentCallbackCodec,
  indexes: ['transaction_id'],
  evolve,
};
