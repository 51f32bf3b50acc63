import {
  ownStreamId,
  notificationName,
  reportName,
  transactionStreamId,
} from '../../../src/areas/payments/domain/payment-ids.js';
import { parseOrderNumber } from '../../../src/areas/payments/domain/order/number.js';
import type { PaymentNotification } from '../../../src/areas/payments/domain/payment.js';
import { platformOf } from '../../../src/areas/payments/domain/order/events.js';
import { type TransactionReport, whyWaiting } from '../../../src/areas/payments/domain/transaction/status.js';
import type { Page, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import type { Sealer } from '../../../src/keys/sealing/sealer.js';
import { type OrderDocument, ordersProjection } from '../orders/projection.js';
import { openDecisions, openRecord } from '../payment-decisions/reader.js';
import { type TransactionDocument, transactionsProjection } from '../transactions/projection.js';
import { type PaymentCallbackDocument, paymentCallbacksProjection } from './projection.js';
import { outcomeOf, type ReportOutcome, together } from './outcome.js';
import { resourceOf } from '../../resource-of.js';
import { paymentCallbackResource, type PaymentCallbackResource, type UnmatchedResource } from './resource.js';

/** @throws StoreUnavailable */
export interface PaymentCallbackReader {
  /** Lists the oldest waiting report of each transaction, oldest first. @param page `after`: see `unmatchedPlace` */
  unmatched(page: Page): Promise<readonly UnmatchedResource[]>;
  /** Returns a report or a callback; null if none was accepted under this name. */
  find(id: string): Promise<PaymentCallbackResource | null>;
  /** Lists the reports and the callbacks of the transaction with this id; at most 100. */
  ofTransaction(transactionId: string): Promise<readonly PaymentCallbackResource[]>;
}

const foundMax = 100;

/** The outcome of what is accepted, and not passed on to its transaction yet. */
const notYet: ReportOutcome = { held: null, disposition: null, order_id: null };

export function makePaymentCallbackReader({
  views,
  sealer,
}: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
}): PaymentCallbackReader {
  const callbacks = views.of(paymentCallbacksProjection);
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
      if (revision === undefined) {
        const found = await callbacks.get(stream);
        return found === null ? null : shownCallback(found);
      }
      const found = await transactions.get(stream);
      const report = found?.body.reports.find((one) => one.revision === Number(revision));
      return found === null || report === undefined ? null : shownReport(found, report);
    },
    ofTransaction: async (transactionId) => {
      const where = { field: 'transaction_id', equals: transactionId };
      const [inboxes, found] = await Promise.all([
        callbacks.find({ where, limit: foundMax }),
        transactions.find({ where, limit: foundMax }),
      ]);
      // The inbox of a report that was passed on is shown instead, unless the report waits.
      const reports = found.flatMap((document) =>
        document.body.reports
          .filter((report) => !report.key.includes('.') || whyWaiting(document.body, report) !== null)
          .map((report) => shownReport(document, report)),
      );
      return Promise.all([...inboxes.map(shownCallback), ...reports.slice(0, foundMax)]);
    },
  };

  async function shownReport(
    { id, body }: ViewDocument<TransactionDocument>,
    report: TransactionReport,
  ): Promise<PaymentCallbackResource> {
    const name = reportName(id, report.revision);
    const outcome = await outcomeIn({ id, body }, report);
    const ofReport = body.decisions.filter(({ payment_id }) => payment_id === name);
    const inReview = await decidedInReview(`${name}.`, [outcome.order_id]);
    return resourceOf(paymentCallbackResource, {
      ...{ id: name, provider: platformOf(id), is_ours: report.is_ours, notifications: shown(report.told) },
      ...outcome,
      conflicts: body.conflicts.filter(({ key }) => key === report.key).length,
      ...{ received_at: report.received_at, recorded: null },
      decisions: await openDecisions(sealer, [...ofReport, ...inReview]),
    });
  }

  /** The outcome of a callback is that of its reports. */
  async function shownCallback({
    id,
    body,
  }: ViewDocument<PaymentCallbackDocument>): Promise<PaymentCallbackResource> {
    const passedOn = body.notifications.map((one, index) => passedOnOutcome(id, body, { ...one, index }));
    const found = await Promise.all(passedOn);
    // What moves money and is in no stream of a transaction yet has no outcome, and is not ignored.
    const isOwed = body.notifications.some(
      ({ fact: { kind } }, index) => kind !== 'nothing' && kind !== 'approved' && found[index] === null,
    );
    const outcome = isOwed ? notYet : together(found.filter((one) => one !== null));
    const named = body.notifications.map(({ order_number: number }) => parseOrderNumber(number ?? ''));
    const inReview = await decidedInReview(`${id}.`, [...named, outcome.order_id]);
    return resourceOf(paymentCallbackResource, {
      ...{ ...body, id, notifications: shown(body.notifications) },
      ...outcome,
      recorded: body.recorded === null ? null : await openRecord(sealer, id, body.recorded),
      decisions: await openDecisions(sealer, inReview),
    });
  }

  async function passedOnOutcome(
    id: string,
    { provider }: PaymentCallbackDocument,
    { index, transaction_id }: { readonly index: number; readonly transaction_id: string | null },
  ): Promise<ReportOutcome | null> {
    const key = notificationName(id, index);
    const own = ownStreamId(provider, key);
    const streams = transaction_id === null ? [own] : [transactionStreamId(provider, transaction_id), own];
    for (const document of await Promise.all(streams.map((stream) => transactions.get(stream)))) {
      const report = document?.body.reports.find((one) => one.key === key);
      if (document !== null && report !== undefined) return outcomeIn(document, report);
    }
    return null;
  }

  async function outcomeIn(
    { id, body }: Pick<ViewDocument<TransactionDocument>, 'id' | 'body'>,
    report: TransactionReport,
  ): Promise<ReportOutcome> {
    const orderId = report.order_id ?? body.link?.order_id ?? null;
    const order = orderId === null ? null : await orders.get(orderId);
    return outcomeOf({ id, body }, report, order?.body ?? null);
  }

  /** Returns the decisions on facts whose names begin so, from the orders that know them. */
  async function decidedInReview(prefix: string, orderIds: readonly (string | null)[]) {
    const ids = new Set(orderIds.filter((orderId) => orderId !== null));
    const found = await Promise.all([...ids].map((orderId) => orders.get(orderId)));
    const decisions = found.flatMap((order): OrderDocument['decisions'] => order?.body.decisions ?? []);
    return decisions.filter(({ payment_id }) => payment_id.startsWith(prefix));
  }
}

/** Leaves out what only the service uses: the names of payments and of events. */
function shown(notifications: readonly PaymentNotification[]): UnmatchedResource['notifications'] {
  return notifications.map(({ order_number, transaction_id, fact, at }) => ({
    ...{ order_number, transaction_id, fact, at },
  }));
}

function unmatchedOf({ id, body }: ViewDocument<TransactionDocument>): UnmatchedResource | null {
  const report = body.reports.find((one) => whyWaiting(body, one) !== null);
  const reason = report === undefined ? null : whyWaiting(body, report);
  if (report === undefined || reason === null) return null;
  const { is_ours, told, received_at } = report;
  return {
    ...{ id: reportName(id, report.revision), provider: platformOf(id), reason, is_ours },
    ...{ notifications: shown(told), received_at },
  };
}

/** Returns a report's place in the list of those that wait: by time of receipt, then by id. */
export function unmatchedPlace({ received_at, id }: Pick<UnmatchedResource, 'received_at' | 'id'>): string {
  return `${received_at}/${id}`;
}

/** A transaction has one place in the list. */
function parsePlace(place: string): { readonly value: string; readonly id: string } {
  const [value = '', id = ''] = place.split('/');
  return { value, id: id.split('@')[0] ?? '' };
}
