import {
  notificationName,
  parseOrderNumber,
  reportKeyOf,
  transactionStreamId,
  type HoldReason,
} from '../../../../src/areas/payments/domain/payment.js';
import type { OrderStatus } from '../../../../src/areas/payments/domain/order/order.js';
import { type LedgerEntry, ledgerOf, type Mismatch, reviewOf } from './payment-ledger.js';
import { receivedAt, type Scene, type SceneMessage, type SceneOrder } from './payment-scene.js';

/**
 * The expected end of messages, computed from the rules of src/areas/payments/README.md#orders and src/areas/payments/README.md#callbacks
 * independently of the code: from all messages at once, in any order.
 */
export interface Expectation {
  readonly orders: ReadonlyMap<string, ExpectedOrder>;
  /** By the id of the callback. */
  readonly callbacks: ReadonlyMap<string, ExpectedCallback>;
  /** By the stream of the transaction: the orders that it may belong to. It belongs to one of them, if there is one. */
  readonly claims: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface ExpectedOrder {
  readonly status: OrderStatus;
  readonly refunded: number;
  readonly isDue: boolean;
  /** Names of the notifications that wait for an operator. */
  readonly mismatches: readonly string[];
}

export type ExpectedCallback =
  /** One of the reasons for which a part of the callback waits. */
  | { readonly kind: 'held'; readonly reasons: readonly HoldReason[] }
  | {
      readonly kind: 'settled';
      readonly as: 'mismatch' | 'ignored' | 'applied';
      readonly orderIds: readonly string[];
    };

/** Facts that only the log contains: the order of arrival, expiries, cancellations and decisions. */
export interface Circumstances {
  /** By callback: the accepted content of its key. */
  readonly accepted: ReadonlyMap<string, SceneMessage>;
  /** By the stream of the transaction. */
  readonly links: ReadonlyMap<string, string>;
  /** The streams whose link is of a report of another account. */
  readonly linkedByOthers: ReadonlySet<string>;
  /** By order: its expiry, or its cancellation by the buyer. */
  readonly ends: ReadonlyMap<string, readonly ('expired' | 'canceled')[]>;
  readonly decisions: Decisions;
}

/** The decisions of operators. */
export interface Decisions {
  /** By the key of a report: the order that it was applied to, or null if it was dismissed. */
  readonly reports: ReadonlyMap<string, string | null>;
  /** By the name of the notification: the decisions on reviews. */
  readonly reviews: ReadonlyMap<string, 'apply' | 'dismiss'>;
  /** Notifications that were mismatches before a decision held for them, or without one. */
  readonly found: ReadonlySet<string>;
}

type Outcome =
  | { readonly kind: 'held'; readonly reason: HoldReason }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'mismatch' | 'entry'; readonly orderId: string };

type Told = SceneMessage['told'][number];

/** One notification of a message with all its values. */
interface Notification {
  readonly name: string;
  readonly callback: string;
  readonly isOurs: boolean;
  readonly provider: SceneMessage['provider'];
  /** The id that the number names, even if there is no order with it. */
  readonly number: string | null;
  readonly transaction: string | null;
  /** The stream of the transaction. */
  readonly stream: string | null;
  readonly fact: Told['fact'];
  readonly atMs: number;
}

export function expectedOf(
  { orders }: Scene,
  { accepted, links, linkedByOthers, ends, decisions }: Circumstances,
): Expectation {
  const byId = new Map(orders.map((order) => [order.id, order]));
  const entries = new Map<string, LedgerEntry[]>(orders.map(({ id }) => [id, []]));
  const mismatches = new Map<string, Mismatch[]>(orders.map(({ id }) => [id, []]));
  const claims = new Map<string, Set<string>>();
  const callbacks = new Map<string, ExpectedCallback>();
  for (const [id, message] of accepted) {
    callbacks.set(id, together(notificationsOf(id, message).map(outcomeOf)));
  }
  const expected = orders.map((order): [string, ExpectedOrder] => {
    const review = reviewOf(mismatches.get(order.id) ?? [], decisions.reviews);
    const ledger = ledgerOf([...(entries.get(order.id) ?? []), ...review.entries], {
      ...{ price: order.amount, ends: ends.get(order.id) ?? [] },
    });
    const status = review.waiting.length > 0 ? 'review' : ledger.status;
    return [order.id, { ...ledger, status, mismatches: review.waiting.toSorted() }];
  });
  return { orders: new Map(expected), callbacks, claims };

  function outcomeOf(notification: Notification): Outcome {
    const { name, number, stream } = notification;
    const named = numbered(number) ?? decidedOrder(notification);
    if (named === 'dismissed' || changesNothing(notification)) return { kind: 'nothing' };
    if (notification.fact.kind === 'unreadable') return { kind: 'held', reason: 'unreadable' };
    const order = named ?? linked(stream);
    if (order === undefined && isWithoutMoney(notification.fact)) return { kind: 'nothing' };
    if (order === undefined) {
      return { kind: 'held', reason: number === null ? 'unlinked_transaction' : 'unknown_order' };
    }
    const reason = mismatchOf(notification, order);
    if (named !== undefined || decisions.reviews.get(name) === 'apply') claim(stream, order);
    return tell(order, notification, reason);
  }

  function changesNothing({
    fact,
    ...notification
  }: Pick<Notification, 'fact' | 'name' | 'callback'>): boolean {
    return fact.kind === 'unreadable' && decisionOn(notification) !== undefined;
  }

  /** A decision is on a report: the whole of a callback, or one notification that was forwarded. */
  function decisionOn({
    name,
    callback,
  }: Pick<Notification, 'name' | 'callback'>): string | null | undefined {
    const { reports } = decisions;
    return reports.has(name) ? reports.get(name) : reports.get(callback);
  }

  function tell(
    { id: orderId }: SceneOrder,
    { name, stream, fact, atMs }: Notification,
    reason: Mismatch['reason'] | null,
  ): Outcome {
    const entry = { transaction: stream ?? name, isNamed: stream !== null, fact, atMs };
    if (reason === null) entries.get(orderId)?.push(entry);
    else if (!isWithoutMoney(fact)) mismatches.get(orderId)?.push({ name, reason, entry });
    return { kind: decisions.found.has(name) ? 'mismatch' : 'entry', orderId };
  }

  function linked(stream: string | null): SceneOrder | undefined {
    return byId.get(links.get(stream ?? '') ?? '');
  }

  function numbered(number: string | null): SceneOrder | undefined {
    return byId.get(number === null ? '' : (parseOrderNumber(number) ?? ''));
  }

  /** Returns the order to which an operator applied it. A link that came first refuses the decision. */
  function decidedOrder(notification: Notification): SceneOrder | 'dismissed' | undefined {
    const decision = decisionOn(notification);
    if (decision === undefined) return undefined;
    return decision === null ? 'dismissed' : byId.get(decision);
  }

  function claim(stream: string | null, order: SceneOrder): void {
    if (stream === null) return;
    claims.set(stream, (claims.get(stream) ?? new Set()).add(order.id));
  }

  function mismatchOf(
    { isOurs, provider, number, stream, fact }: Notification,
    order: SceneOrder,
  ): Mismatch['reason'] | null {
    if (stream !== null && links.get(stream) !== order.id) return 'transaction_of_another_order';
    const isLinkedByOthers = linkedByOthers.has(stream ?? '') && numbered(number)?.id !== order.id;
    if (!isOurs || isLinkedByOthers || provider !== order.provider) return 'merchant';
    return isPriced(fact, order) ? null : 'price';
  }
}

function notificationsOf(
  id: string,
  { told, provider, isOurs = true }: SceneMessage,
): readonly Notification[] {
  const reported = told.filter(({ fact }) => fact.kind !== 'nothing');
  return reported.map(({ number = null, transaction = null, fact, at = null }, index) => ({
    name: notificationName(id, index),
    callback: id,
    ...{ isOurs, provider, number, transaction, fact },
    stream: transaction === null ? null : transactionStreamId(provider, transaction),
    atMs: at === null ? receivedAt.getTime() : Date.parse(at),
  }));
}

function isWithoutMoney({ kind }: Told['fact']): boolean {
  return ['pending', 'unpaid', 'failed', 'expired', 'canceled'].includes(kind);
}

function isPriced(fact: Told['fact'], { amount }: SceneOrder): boolean {
  if (fact.kind === 'paid') return fact.currency === 'USD' && fact.amount === amount;
  if (fact.kind === 'refund' || fact.kind === 'refunded-in-total') return fact.currency === 'USD';
  return true;
}

function together(outcomes: readonly Outcome[]): ExpectedCallback {
  const held = outcomes.filter((outcome) => outcome.kind === 'held');
  if (held.length > 0) return { kind: 'held', reasons: held.map(({ reason }) => reason) };
  const told = outcomes.filter((outcome) => 'orderId' in outcome);
  const isMismatch = told.some(({ kind }) => kind === 'mismatch');
  const as = isMismatch ? 'mismatch' : told.length > 0 ? 'applied' : 'ignored';
  return { kind: 'settled', as, orderIds: told.map(({ orderId }) => orderId) };
}

/** Returns the id of a message in the log. */
export function callbackOf({ provider, key }: SceneMessage): string {
  return reportKeyOf(provider, key);
}
