import {
  factName,
  isForwardedKey,
  reportName,
  type Disposition,
  disposition,
  holdReason,
  paymentId,
  paymentProvider,
} from '../../../src/areas/payments/domain/payment.js';
import { knownAs } from '../../../src/areas/payments/domain/order/review.js';
import { platformOf } from '../../../src/areas/payments/domain/order/events.js';
import { type TransactionReport, whyPending } from '../../../src/areas/payments/domain/transaction/fold.js';
import type { Page, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import type { Sealer } from '../../../src/keys/sealing/sealer.js';
import { type OrderDocument, ordersProjection } from '../orders/projection.js';
import { openDecisions, openRecord, paymentDecision, paymentRecorded } from '../payment-decisions/reader.js';
import { type TransactionDocument, transactionsProjection } from '../transactions/projection.js';
import { resourceOf } from '../../resource-of.js';
import { z } from 'zod';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';
import { paymentNotification } from '../../../src/areas/payments/domain/fact.js';

/** What a platform reported. */
const reported = {
  id: paymentId,
  provider: paymentProvider,
  is_ours: z.boolean().describe('Whether it is of our account with the platform.'),
  notifications: z.array(
    paymentNotification.pick({ order_number: true, transaction_id: true, fact: true, at: true }),
  ),
  received_at: instant,
};

/** The oldest report of a transaction that is pending: it waits for its order, or for an operator. */
export const unmatchedResource = namedObject('UnmatchedPayment', { ...reported, reason: holdReason });
export type UnmatchedResource = z.infer<typeof unmatchedResource>;

/** A report with its outcome and the decisions on it. */
export const paymentCallbackResource = namedObject('PaymentCallback', {
  ...reported,
  held: holdReason.nullable().describe('Why it waits; null once it has an order or a decision.'),
  disposition: disposition.nullable().describe('What it was applied as.'),
  order_id: entityId.nullable().describe('The order that it was applied to.'),
  conflicts: z.int().describe('How often other content came under its name.'),
  recorded: paymentRecorded.nullable().describe('Who recorded it by hand; null for a callback.'),
  decisions: z.array(paymentDecision),
});
type PaymentCallbackResource = z.infer<typeof paymentCallbackResource>;

/** @throws StoreUnavailable */
export type PaymentCallbackReader = ReturnType<typeof makePaymentCallbackReader>;

const foundMax = 100;
const shownNotification = unmatchedResource.shape.notifications.element;

export function makePaymentCallbackReader(deps: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
}) {
  const { views, sealer } = deps;
  const transactions = views.of(transactionsProjection);
  const orders = views.of(ordersProjection);
  return {
    /** Lists the oldest pending report of each stream, oldest first. @param page `after`: see `unmatchedPosition` */
    unmatched: async ({ after, limit }: Page) => {
      // A stream has one position in the list.
      const [value = '', id = ''] = (after ?? '').split(/[/@]/);
      const from = after === undefined ? {} : { after: { value, id } };
      const documents = await transactions.findInOrder({ orderBy: 'unmatched_since', ...from, limit });
      return documents.flatMap((found) => pendingIn(found).slice(0, 1));
    },
    /** Lists the pending reports of the stream of a report, oldest first. */
    pendingWith: async (name: string) => {
      const found = await transactions.get(name.split('@')[0] ?? '');
      return found === null ? [] : pendingIn(found);
    },
    /** Returns a report; null if there is none of this name. */
    find: async (name: string) => {
      const [stream = '', revision] = name.split('@');
      const found = await transactions.get(stream);
      const report = found?.body.reports.find((one) => one.revision === Number(revision));
      return found === null || report === undefined ? null : shownReport(found, report);
    },
    /** Lists the reports of the transaction with this id; at most 100. */
    ofTransaction: async (transactionId: string) => {
      const where = { field: 'transaction_id', equals: transactionId };
      const found = await transactions.find({ where, limit: foundMax });
      const shown = found.flatMap((one) => one.body.reports.map((report) => () => shownReport(one, report)));
      return Promise.all(shown.slice(0, foundMax).map((show) => show()));
    },
  };

  async function shownReport(
    { id, body }: ViewDocument<TransactionDocument>,
    report: TransactionReport,
  ): Promise<PaymentCallbackResource> {
    const { key, decision, notifications } = report;
    const reported = reportedOf(id, report);
    const held = whyPending(body, report);
    const order_id = decision?.action === 'dismiss' ? null : (report.order_id ?? body.link?.order_id ?? null);
    const order = order_id === null ? undefined : (await orders.get(order_id))?.body;
    const names = notifications.map((_, index) => factName(id, report, index));
    const inReview = (order?.decisions ?? []).filter(({ payment_id }) => names.includes(payment_id));
    const ofReport = body.decisions.filter(({ payment_id }) => payment_id === reported.id);
    const recorded = body.recorded.find((one) => one.key === key);
    return resourceOf(paymentCallbackResource, {
      ...{ ...reported, held, order_id },
      disposition: held === null ? dispositionOf(report, names, order) : null,
      conflicts: await conflictsOf(body, key),
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

/** Derives what a report was applied as from what its order knows of its facts; null without an order. */
function dispositionOf(
  { decision }: TransactionReport,
  names: readonly string[],
  order: OrderDocument | undefined,
): Disposition | null {
  if (order === undefined) return decision?.action === 'dismiss' || names.length === 0 ? 'ignored' : null;
  const known = names.map((name) => knownAs(order.seen, name));
  return (['mismatch', 'applied'] as const).find((one) => known.includes(one)) ?? 'already_applied';
}

function pendingIn({ id: stream, body }: ViewDocument<TransactionDocument>): readonly UnmatchedResource[] {
  return body.reports.flatMap((report) => {
    const reason = whyPending(body, report);
    return reason === null ? [] : [{ ...reportedOf(stream, report), reason }];
  });
}

/** Shows what the platform reported. The names of payments and of events stay internal. */
function reportedOf(id: string, { revision, is_ours, notifications, received_at }: TransactionReport) {
  return {
    ...{ id: reportName(id, revision), provider: platformOf(id), is_ours, received_at },
    notifications: notifications.map((one) => resourceOf(shownNotification, one)),
  };
}

/** Returns a report's position in the list of those that are pending: by time of receipt, then by id. */
export function unmatchedPosition({
  received_at,
  id,
}: Pick<UnmatchedResource, 'received_at' | 'id'>): string {
  return `${received_at}/${id}`;
}
