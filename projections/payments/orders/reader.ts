import { orderNumber, parseOrderNumber } from '../../../src/areas/payments/domain/payment.js';
import type { OrderStatus } from '../../../src/areas/payments/domain/order/fold.js';
import type { Page, Versioned, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import type { Sealer } from '../../../src/keys/sealing/sealer.js';
import { type DocumentsAfter, documentAfter, resourceOf } from '../../resource-of.js';
import { transactionsProjection } from '../transactions/projection.js';
import { openDecisions } from '../payment-decisions/reader.js';
import { type CreationPage, everyOf, filteredPage, firstIdOf, matchesOf } from '../../filtered-page.js';
import { type OrderDocument, ordersProjection } from './projection.js';
import {
  type OrderResource,
  type PaymentEntry,
  type ReviewResource,
  orderResource,
  reviewReason,
} from './resource.js';
import { withoutRepeats } from '../../../src/areas/payments/domain/order/review.js';
import { unusedPayments } from '../../../src/areas/payments/domain/order/unused.js';
import { type PaymentFact, moneyOf, movesMoney } from '../../../src/areas/payments/domain/fact.js';

/** Returns the mismatches of the order and its payments that bought nothing, in order of id. */
function reviewsOf({ id: orderId, body }: ViewDocument<OrderDocument>): readonly ReviewResource[] {
  const ofOrder = {
    order_id: orderId,
    order_number: orderNumber(orderId),
    expected_amount: body.amount,
    expected_currency: body.currency,
  };
  const mismatches = withoutRepeats(body.mismatches).map(({ fact, ...mismatch }) => {
    return { ...mismatch, ...ofOrder, kind: kindOf(fact), ...moneyOf(fact) };
  });
  const unused = unusedPayments(body).map(({ transaction: _key, is_applied: _applied, ...payment }) => {
    return { ...payment, ...ofOrder, kind: payment.reason === 'partial_loss' ? 'lost' : 'paid' } as const;
  });
  return [...mismatches, ...unused].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns a mismatch's position in the list of all: orders by age, then the mismatches of one by id. */
export function reviewPosition({ order_id: orderId, id }: Pick<ReviewResource, 'order_id' | 'id'>): string {
  return `${orderId}/${id}`;
}

/** @throws Error for a fact that is never a mismatch */
function kindOf(fact: PaymentFact): PaymentEntry['kind'] {
  if (!movesMoney(fact)) throw new Error(`a fact of the kind ${fact.kind} is never a mismatch`);
  switch (fact.kind) {
    case 'refund':
      return fact.status === 'reversed' ? 'lost' : 'refund';
    case 'refunded-in-total':
      return 'refund';
    case 'dispute':
      return fact.status === 'open' ? 'disputed' : fact.status;
    case 'paid':
      return fact.kind;
  }
}

/** Whose orders. */
export type OrdersOf = { readonly userId: string } | { readonly projectId: string };

/** @throws StoreUnavailable */
export type OrderReader = ReturnType<typeof makeOrderReader>;

const appliedMax = 100;

export function makeOrderReader(deps: { readonly views: Views; readonly sealer: Pick<Sealer, 'open'> }) {
  const { views, sealer } = deps;
  const orders = views.of(ordersProjection);
  const transactions = views.of(transactionsProjection);
  const inReview = async ({ after, limit }: Page): Promise<readonly ReviewResource[]> => {
    const where = { field: 'in_review', equals: 'yes' };
    const [orderId] = after?.split('/') ?? [];
    if (after === undefined || orderId === undefined)
      return (await orders.find({ where, limit })).flatMap(reviewsOf).slice(0, limit);
    const [first, others] = await Promise.all([
      orders.get(orderId),
      orders.find({ where, after: orderId, limit }),
    ]);
    const rest = (first === null ? [] : reviewsOf(first)).filter((item) => reviewPosition(item) > after);
    return [...rest, ...others.flatMap(reviewsOf)].slice(0, limit);
  };
  return {
    /** Returns null if the user does not have the order, or if it was not placed for the project. */
    find: async (of: OrdersOf, orderId: string) => {
      const document = await orders.get(orderId);
      const { field, equals } = whereOf(of);
      return document?.body[field] === equals ? present(document) : null;
    },
    /** Returns an order of any user with the decisions on its payments; null if it does not exist. */
    forOperator: async (idOrNumber: string) => {
      const orderId = parseOrderNumber(idOrNumber) ?? idOrNumber;
      const where = { field: 'applied_to', equals: orderId };
      const [found, told] = await Promise.all([
        orders.get(orderId),
        transactions.find({ where, limit: appliedMax }),
      ]);
      if (found === null) return null;
      const applied = told.flatMap(({ body }) =>
        body.decisions.filter(({ order_id }) => order_id === orderId),
      );
      const decisions = await openDecisions(sealer, [...found.body.decisions, ...applied]);
      return { ...present(found).resource, decisions };
    },
    /** Returns a page of the orders of a user or of a project. */
    page: async (of: OrdersOf, page: CreationPage, filter: { readonly status?: OrderStatus | undefined }) => {
      const where = whereOf(of);
      const matches = matchesOf(filter);
      const { items, next } = await filteredPage(
        orders,
        { where, ...page },
        matches && ((document) => matches(present(document).resource)),
      );
      return { items: items.map((document) => present(document).resource), next };
    },
    /** Lists the mismatches and the unused payments that wait for an operator, oldest order first. @param page `after`: see `reviewPosition` */
    inReview,
    /** Counts the first `limit` of them by reason; 0 for a reason without one. */
    reviewReasons: async (limit: number) => {
      const counts = new Map<string, number>(reviewReason.options.map((reason) => [reason, 0]));
      for (const { reason } of await inReview({ limit })) counts.set(reason, (counts.get(reason) ?? 0) + 1);
      return counts;
    },
    /** Returns whether there is an order that has not failed, expired or been canceled. */
    anyKept: async (of: OrdersOf) => {
      for await (const { body } of everyOf((page) => orders.find({ where: whereOf(of), ...page })))
        if (!endedStatuses.has(body.status)) return true;
      return false;
    },
    /** Lists the ids of at most `limit` orders of the user that wait for a payment. */
    openIds: async (userId: string, limit: number) => {
      const documents = await orders.find({ where: { field: 'open_for', equals: userId }, limit });
      return documents.map(({ id }) => id);
    },
    /** Lists the orders of all users that were placed in a period, oldest first. */
    placedIn: async ({ from, to }: { from: Date; to: Date }, { after = firstIdOf(from), limit }: Page) => {
      const documents = await orders.find({ after, limit });
      const end = firstIdOf(to);
      return documents.filter(({ id }) => id < end).map((document) => present(document).resource);
    },
    /** Returns the order after a command. */
    after: (documents: DocumentsAfter) => present(documentAfter(ordersProjection, documents)),
  };
}

/** The statuses of orders that bought nothing and will not. */
const endedStatuses: ReadonlySet<OrderStatus> = new Set(['failed', 'expired', 'canceled']);

function whereOf(of: OrdersOf) {
  return 'userId' in of
    ? ({ field: 'user_id', equals: of.userId } as const)
    : ({ field: 'project_id', equals: of.projectId } as const);
}

function present({ id, revision, body }: ViewDocument<OrderDocument>): Versioned<OrderResource> {
  const payments = [...body.payments];
  return {
    revision,
    resource: resourceOf(orderResource, { id, number: orderNumber(id), ...body, payments }),
  };
}
