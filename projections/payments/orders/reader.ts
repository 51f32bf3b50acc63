import { orderNumber, parseOrderNumber } from '../../../src/areas/payments/domain/payment-ids.js';
import type { OrderStatus } from '../../../src/areas/payments/domain/order/fold.js';
import type { Page, Versioned, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import type { Sealer } from '../../../src/keys/sealing/sealer.js';
import { type DocumentsAfter, documentAfter, resourceOf } from '../../resource-of.js';
import { transactionsProjection } from '../transactions/projection.js';
import { openDecisions } from '../payment-decisions/reader.js';
import {
  type CreationPage,
  type FilteredPage,
  filteredPage,
  firstIdOf,
  matchesOf,
} from '../../filtered-page.js';
import { type OrderDocument, ordersProjection } from './projection.js';
import {
  type OrderForOperator,
  type OrderResource,
  type PaymentEntry,
  type ReviewResource,
  orderResource,
  reviewReason,
} from './resource.js';
import { unusedPayments } from '../../../src/areas/payments/domain/order/unused.js';
import { type PaymentFact, moneyOf } from '../../../src/areas/payments/domain/fact.js';

/** Returns the mismatches of the order and its payments that bought nothing, in order of id. */
function reviewsOf({ id: orderId, body }: ViewDocument<OrderDocument>): readonly ReviewResource[] {
  const ofOrder = {
    order_id: orderId,
    order_number: orderNumber(orderId),
    expected_amount: body.amount,
    expected_currency: body.currency,
  };
  const mismatches = body.mismatches.map(({ fact, ...mismatch }) => {
    return { ...mismatch, ...ofOrder, kind: kindOf(fact), ...moneyOf(fact) };
  });
  const unused = unusedPayments(body).map(({ transaction: _key, is_applied: _applied, ...payment }) => {
    return { ...payment, ...ofOrder, kind: payment.reason === 'partial_loss' ? 'lost' : 'paid' } as const;
  });
  return [...mismatches, ...unused].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** Returns a mismatch's place in the list of all: orders by age, then the mismatches of one by id. */
export function reviewPlace({ order_id: orderId, id }: Pick<ReviewResource, 'order_id' | 'id'>): string {
  return `${orderId}/${id}`;
}

/** @throws Error for a fact that is never a mismatch */
function kindOf(fact: PaymentFact): PaymentEntry['kind'] {
  switch (fact.kind) {
    case 'refund':
      return fact.status === 'reversed' ? 'lost' : 'refund';
    case 'refunded-in-total':
      return 'refund';
    case 'dispute':
      return fact.status === 'open' ? 'disputed' : fact.status;
    case 'paid':
      return fact.kind;
    case 'pending':
    case 'unpaid':
    case 'failed':
    case 'expired':
    case 'canceled':
    case 'approved':
    case 'nothing':
    case 'unreadable':
      throw new Error(`a fact of the kind ${fact.kind} is never a mismatch`);
  }
}

export type { OrderResource } from './resource.js';

/** Whose orders. */
export type OrdersOf = { readonly userId: string } | { readonly projectId: string };

/** @throws StoreUnavailable */
export interface OrderReader {
  /** Returns null if the user does not have the order. */
  find(userId: string, orderId: string): Promise<Versioned<OrderResource> | null>;
  /** Returns null if the order was not placed for the project. */
  findOfProject(projectId: string, orderId: string): Promise<Versioned<OrderResource> | null>;
  /** Returns an order of any user with the decisions on its payments; null if it does not exist. */
  forOperator(idOrNumber: string): Promise<OrderForOperator | null>;
  /** Returns a page of the orders of a user or of a project. */
  page(
    of: OrdersOf,
    page: CreationPage,
    filter: { readonly status?: OrderStatus | undefined },
  ): Promise<FilteredPage<OrderResource>>;
  /** Lists the mismatches and the unused payments that wait for an operator, oldest order first. @param page `after`: see `reviewPlace` */
  inReview(page: Page): Promise<readonly ReviewResource[]>;
  /** Counts the first `limit` of them by reason; 0 for a reason without one. */
  reviewReasons(limit: number): Promise<ReadonlyMap<string, number>>;
  /** Returns whether there is an order that has not failed, expired or been canceled. */
  anyKept(of: OrdersOf): Promise<boolean>;
  /** Lists the ids of at most `limit` orders of the user that wait for a payment. */
  openIds(userId: string, limit: number): Promise<readonly string[]>;
  /** Lists the orders of all users that were placed in a period, oldest first. */
  placedIn(period: { readonly from: Date; readonly to: Date }, page: Page): Promise<readonly OrderResource[]>;
  /** Returns the order after a command. */
  after(documents: DocumentsAfter): Versioned<OrderResource>;
}

const appliedMax = 100;

export function makeOrderReader({
  views,
  sealer,
}: {
  readonly views: Views;
  readonly sealer: Pick<Sealer, 'open'>;
}): OrderReader {
  const orders = views.of(ordersProjection);
  const transactions = views.of(transactionsProjection);
  const inReview = async ({ after, limit }: Page): Promise<readonly ReviewResource[]> => {
    const where = { field: 'in_review', equals: 'yes' };
    const [orderId] = after?.split('/') ?? [];
    if (after === undefined || orderId === undefined) {
      return (await orders.find({ where, limit })).flatMap(reviewsOf).slice(0, limit);
    }
    const [first, others] = await Promise.all([
      orders.get(orderId),
      orders.find({ where, after: orderId, limit }),
    ]);
    const rest = (first === null ? [] : reviewsOf(first)).filter((item) => reviewPlace(item) > after);
    return [...rest, ...others.flatMap(reviewsOf)].slice(0, limit);
  };
  return {
    find: async (userId, orderId) => {
      const document = await orders.get(orderId);
      return document?.body.user_id === userId ? present(document) : null;
    },
    findOfProject: async (projectId, orderId) => {
      const document = await orders.get(orderId);
      return document?.body.project_id === projectId ? present(document) : null;
    },
    forOperator: async (idOrNumber) => {
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
    page: async (of, page, filter) => {
      const where = whereOf(of);
      const matches = matchesOf(filter);
      const { items, next } = await filteredPage(
        orders,
        { where, ...page },
        matches && ((document) => matches(present(document).resource)),
      );
      return { items: items.map((document) => present(document).resource), next };
    },
    inReview,
    reviewReasons: async (limit) => {
      const counts = new Map<string, number>(reviewReason.options.map((reason) => [reason, 0]));
      for (const { reason } of await inReview({ limit })) counts.set(reason, (counts.get(reason) ?? 0) + 1);
      return counts;
    },
    anyKept: async (of) => {
      for (let after: string | undefined; ;) {
        const where = whereOf(of);
        const found = await orders.find({
          where,
          limit: appliedMax,
          ...(after === undefined ? {} : { after }),
        });
        if (found.some((document) => !endedStatuses.has(present(document).resource.status))) return true;
        after = found.at(-1)?.id;
        if (after === undefined || found.length < appliedMax) return false;
      }
    },
    openIds: async (userId, limit) => {
      const documents = await orders.find({ where: { field: 'open_for', equals: userId }, limit });
      return documents.map(({ id }) => id);
    },
    placedIn: async ({ from, to }, { after = firstIdOf(from), limit }) => {
      const documents = await orders.find({ after, limit });
      const end = firstIdOf(to);
      return documents.filter(({ id }) => id < end).map((document) => present(document).resource);
    },
    after: (documents) => present(documentAfter(ordersProjection, documents)),
  };
}

/** The statuses of orders that bought nothing and will not. */
const endedStatuses: ReadonlySet<OrderStatus> = new Set(['failed', 'expired', 'canceled']);

function whereOf(of: OrdersOf) {
  return 'userId' in of
    ? { field: 'user_id', equals: of.userId }
    : { field: 'project_id', equals: of.projectId };
}

function present({ id, revision, body }: ViewDocument<OrderDocument>): Versioned<OrderResource> {
  const payments = [...body.payments];
  return {
    revision,
    resource: resourceOf(orderResource, { id, number: orderNumber(id), ...body, payments }),
  };
}
