import { reportName } from '../../../src/areas/payments/domain/payment.js';
import { forwardedKey } from './forwarded-key.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';

/** Returns the ids of the reports of a callback: one, or one for each notification that it forwarded. */
export async function acceptedReports(
  store: Pick<EventStore, 'readAll'>,
  callbackId: string,
): Promise<readonly string[]> {
  const keys: readonly unknown[] = [
    callbackId,
    ...Array.from({ length: 50 }, (_, index) => forwardedKey(callbackId, index)),
  ];
  const { events } = await store.readAll({ after: null, limit: 100_000 });
  return events
    .filter(({ type, data }) => type === 'PaymentReported' && keys.includes(data['key']))
    .filter(({ data }) => data['is_forwarded'] !== true)
    .map(({ stream, revision }) => reportName(stream.slice('transaction-'.length), Number(revision)));
}
