import { factName, isForwardedKey, reportName } from '../../../src/areas/payments/domain/payment-ids.js';
import { knownAs } from '../../../src/areas/payments/domain/order/review.js';
import type { PaymentNotification } from '../../../src/areas/payments/domain/fact.js';
import type { Disposition } from '../../../src/areas/payments/domain/payment.js';
import { platformOf } from '../../../src/areas/payments/domain/order/events.js';
import { type TransactionReport, whyPending } from '../../../src/areas/payments/domain/transaction/fold.js';
import type { Page, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import type { Sealer } from '../../../src/keys/sealing/sealer.js';
import { type OrderDocument, ordersProjection } from '../orders/projection.js';
import { openDecisions, openRecord } from '../payment-decisions/reader.js';
import { type TransactionDocument, transactionsProjection } from '../transactions/projection.js';
import { resourceOf } from '../../resource-of.js';
import { paymentCallbackResource, type PaymentCallbackResource, type UnmatchedResource } from './resource.js';

/** @throws StoreUnavailable */
export interface PaymentCallbackReader {
  /** Lists the oldest pending report of each stream, oldest first. @param page `after`: see `unmatchedPlace` */
  unmatched(page: Page): Promise<readonly UnmatchedResource[]>;
  /** Returns a report; null if there is none of this name. */
  find(name: string): Promise<PaymentCallbackResource | null>;
  /** Lists the reports of the transaction with this id; at most 100. */
  ofTransaction(transactionId: string): Promise<readonly PaymentCallbackResource[]>;
}

const foundMax = 100;

type Document = ViewDocument<TransactionDocument>;

export function makePaymentCallbackReader({
  views,
  sealer,
}: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
}): PaymentCallbackReader {
  const transactions = views.of(transactionsProjection);
  const orders = views.of(ordersProjection);
  return {
    unmatched: async ({ after, limit }) => {
      const place = after === undefined ? {} : { after: parsePlace(after) };
      const documents = await transactions.findInOrder({ orderBy: 'unmatched_since', ...place, limit });
      return documents.flatMap((document) => unmatchedOf(document) ?? []);
    },
    find: async (name) => {
      const [stream = '', revision] = name.split('@');
      const found = await transactions.get(stream);
      const report = found?.body.reports.find((one) => one.revision === Number(revision));
      return found === null || report === undefined ? null : shownReport(found, report);
    },
    ofTransaction: async (transactionId) => {
      const where = { field: 'transaction_id', equals: transactionId };
      const found = await transactions.find({ where, limit: foundMax });
      const shown = found.flatMap((one) => one.body.reports.map((report) => () => shownReport(one, report)));
      return Promise.all(shown.slice(0, foundMax).map((show) => show()));
    },
  };

  async function shownReport(
    { id, body }: Document,
    report: TransactionReport,
  ): Promise<PaymentCallbackResource> {
    const { key, revision, is_ours, notifications, received_at } = report;
    const name = reportName(id, revision);
    const held = whyPending(body, report);
    const order_id = orderOf(body, report);
    const order = order_id === null ? null : ((await orders.get(order_id))?.body ?? null);
    const inReview = (order?.decisions ?? []).filter(({ payment_id }) =>
      notifications.some((_, index) => payment_id === factName(id, report, index)),
    );
    const ofReport = body.decisions.filter(({ payment_id }) => payment_id === name);
    const recorded = body.recorded.find((one) => one.key === key);
    return resourceOf(paymentCallbackResource, {
      ...{ id: name, provider: platformOf(id), is_ours, notifications: shown(notifications), held },
      disposition: held === null ? dispositionOf(id, report, order) : null,
      order_id,
      conflicts: await conflictsOf(body, key),
      received_at,
      recorded: recorded === undefined ? null : await openRecord(sealer, key, recorded),
      decisions: await openDecisions(sealer, [...ofReport, ...inReview]),
    });
  }

  /** Counts the other contents under the key of a callback, which a forwarded report shares. */
  async function conflictsOf({ conflicts }: TransactionDocument, key: string): Promise<number> {
    if (!isForwardedKey(key)) return conflicts.filter((one) => one.key === key).length;
    const [stream = ''] = key.split('@');
    return (await transactions.get(stream))?.body.conflicts.length ?? 0;
  }
}

function orderOf({ link }: TransactionDocument, { decision, order_id }: TransactionReport): string | null {
  return decision?.action === 'dismiss' ? null : (order_id ?? link?.order_id ?? null);
}

/** Derives what a report was applied as from what its order knows; null without an order. */
function dispositionOf(
  id: string,
  report: TransactionReport,
  order: OrderDocument | null,
): Disposition | null {
  const isIgnored = report.decision?.action === 'dismiss' || report.notifications.length === 0;
  if (order === null) return isIgnored ? 'ignored' : null;
  const known = report.notifications.map((_, index) => knownAs(order.seen, factName(id, report, index)));
  return (['mismatch', 'applied'] as const).find((one) => known.includes(one)) ?? 'already_applied';
}

/** Leaves out what only the service uses: the names of payments and of events. */
function shown(notifications: readonly PaymentNotification[]): UnmatchedResource['notifications'] {
  return notifications.map(({ order_number, transaction_id, fact, at }) => ({
    ...{ order_number, transaction_id, fact, at },
  }));
}

function unmatchedOf({ id, body }: Document): UnmatchedResource | null {
  const report = body.reports.find((one) => whyPending(body, one) !== null);
  const reason = report === undefined ? null : whyPending(body, report);
  if (report === undefined || reason === null) return null;
  const { is_ours, notifications, received_at } = report;
  return {
    ...{ id: reportName(id, report.revision), provider: platformOf(id), reason, is_ours },
    ...{ notifications: shown(notifications), received_at },
  };
}

/** Returns a report's place in the list of those that are pending: by time of receipt, then by id. */
export function unmatchedPlace({ received_at, id }: Pick<UnmatchedResource, 'received_at' | 'id'>): string {
  return `${received_at}/${id}`;
}

/** A stream has one place in the list. */
function parsePlace(place: string): { readonly value: string; readonly id: string } {
  const [value = '', id = ''] = place.split('/');
  return { value, id: id.split('@')[0] ?? '' };
}
