import { orderNumber } from '../../src/domain/order/number.js';
import type { Page, Versioned, ViewDocument, Views } from '../../src/event-sourcing/views.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { type MismatchEntry, type OrderDocument, ordersProjection, type PaymentEntry } from './projection.js';

/** `order` of DESIGN 4.5, with what platforms have reported of it. */
export type OrderResource = Omit<
  OrderDocument,
  'grant' | 'facts' | 'is_granted' | 'mismatches' | 'open_for' | 'in_review'
> & {
  readonly id: string;
  readonly number: string;
  readonly payments: readonly PaymentEntry[];
};

/** An order of which something waits for an operator's decision. */
export type ReviewResource = {
  readonly id: string;
  readonly order: Omit<OrderResource, 'payments'>;
  readonly mismatches: readonly MismatchEntry[];
};

/** @throws StoreUnavailable */
export interface OrderReader {
  /** Null when the user has no such order. */
  find(userId: string, orderId: string): Promise<Versioned<OrderResource> | null>;
  /** The user's orders, newest first. */
  list(userId: string, page: Page): Promise<readonly OrderResource[]>;
  /** A project's, newest first. */
  listOfProject(projectId: string, page: Page): Promise<readonly OrderResource[]>;
  /** Those that wait for an operator, oldest first. */
  inReview(page: Page): Promise<readonly ReviewResource[]>;
  /** The ids of the user's orders that wait to be paid, at most `limit`. */
  openIds(userId: string, limit: number): Promise<readonly string[]>;
  /** The order as a command left it. */
  after(documents: DocumentsAfter): Versioned<OrderResource>;
}

export function makeOrderReader({ views }: { readonly views: Views }): OrderReader {
  const orders = views.of(ordersProjection);
  const newestFirst = async (
    field: string,
    equals: string,
    page: Page,
  ): Promise<readonly OrderResource[]> => {
    const documents = await orders.find({ where: { field, equals }, descending: true, ...page });
    return documents.map((document) => present(document).resource);
  };
  return {
    find: async (userId, orderId) => {
      const document = await orders.get(orderId);
      return document?.body.user_id === userId ? present(document) : null;
    },
    list: (userId, page) => newestFirst('user_id', userId, page),
    listOfProject: (projectId, page) => newestFirst('project_id', projectId, page),
    inReview: async (page) => {
      const documents = await orders.find({ where: { field: 'in_review', equals: 'yes' }, ...page });
      return documents.map((document) => ({
        id: document.id,
        order: withoutPayments(present(document).resource),
        mismatches: document.body.mismatches,
      }));
    },
    openIds: async (userId, limit) => {
      const documents = await orders.find({ where: { field: 'open_for', equals: userId }, limit });
      return documents.map(({ id }) => id);
    },
    after: (documents) => present(documentAfter(ordersProjection, documents)),
  };
}

function withoutPayments({ payments: _payments, ...order }: OrderResource): ReviewResource['order'] {
  return order;
}

function present({ id, revision, body }: ViewDocument<OrderDocument>): Versioned<OrderResource> {
  const resource = {
    id,
    number: orderNumber(id),
    user_id: body.user_id,
    project_id: body.project_id,
    plan_id: body.plan_id,
    amount: body.amount,
    currency: body.currency,
    provider: body.provider,
    status: body.status,
    refunded_amount: body.refunded_amount,
    paid_at: body.paid_at,
    expires_at: body.expires_at,
    created_at: body.created_at,
    updated_at: body.updated_at,
    payments: body.payments,
  };
  return { revision, resource };
}
