import { orderNumber, parseOrderNumber } from '../../src/domain/order/number.js';
import type { Page, Versioned, ViewDocument, Views } from '../../src/event-sourcing/views.js';
import type { Sealer } from '../../src/keys/sealer.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { paymentCallbacksProjection } from '../payment-callbacks/projection.js';
import { type DecisionResource, openDecisions } from '../payment-decisions/reader.js';
import { type OrderDocument, ordersProjection, type PaymentEntry } from './projection.js';
import { reviewPlace, type ReviewResource, reviewsOf } from './reviews.js';

export { reviewPlace, type ReviewResource } from './reviews.js';

/** `order` of DESIGN 4.5, with what platforms have reported of it. */
export type OrderResource = Omit<
  OrderDocument,
  'grant' | 'facts' | 'is_granted' | 'mismatches' | 'decided' | 'decisions' | 'open_for' | 'in_review'
> & {
  readonly id: string;
  readonly number: string;
  readonly payments: readonly PaymentEntry[];
};

/** `decisions`: the last hundred on what was in review, and those by which a callback was applied to it, a hundred at most. */
export type OrderForOperator = OrderResource & { readonly decisions: readonly DecisionResource[] };

/** @throws StoreUnavailable */
export interface OrderReader {
  /** Null when the user has no such order. */
  find(userId: string, orderId: string): Promise<Versioned<OrderResource> | null>;
  /** Anybody's, with what operators have decided on its payments; null when there is no such order. */
  forOperator(idOrNumber: string): Promise<OrderForOperator | null>;
  /** The user's orders, newest first. */
  list(userId: string, page: Page): Promise<readonly OrderResource[]>;
  /** A project's, newest first. */
  listOfProject(projectId: string, page: Page): Promise<readonly OrderResource[]>;
  /** What waits for an operator, that of the oldest order first. @param page `after`: see `reviewPlace` */
  inReview(page: Page): Promise<readonly ReviewResource[]>;
  /** The ids of the user's orders that wait to be paid, at most `limit`. */
  openIds(userId: string, limit: number): Promise<readonly string[]>;
  /** The order as a command left it. */
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
  const callbacks = views.of(paymentCallbacksProjection);
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
    forOperator: async (idOrNumber) => {
      const orderId = parseOrderNumber(idOrNumber) ?? idOrNumber;
      const found = await orders.get(orderId);
      if (found === null) return null;
      const where = { field: 'applied_to', equals: orderId };
      const applied = (await callbacks.find({ where, limit: appliedMax })).flatMap(({ body }) =>
        body.decision === null ? [] : [body.decision],
      );
      const decisions = await openDecisions(sealer, [...found.body.decisions, ...applied]);
      return { ...present(found).resource, decisions };
    },
    list: (userId, page) => newestFirst('user_id', userId, page),
    listOfProject: (projectId, page) => newestFirst('project_id', projectId, page),
    inReview: async ({ after, limit }) => {
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
    },
    openIds: async (userId, limit) => {
      const documents = await orders.find({ where: { field: 'open_for', equals: userId }, limit });
      return documents.map(({ id }) => id);
    },
    after: (documents) => present(documentAfter(ordersProjection, documents)),
  };
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
