import { callbackIdOf, notificationName, transactionStreamId } from '../../../src/commands/payment-ids.js';
import type { OrderStatus } from '../../../src/domain/order/order.js';
import type { HoldReason } from '../../../src/domain/payment-callback/events.js';
import { parseOrderNumber } from '../../../src/domain/order/number.js';
import { type LedgerEntry, ledgerOf } from './payment-ledger.js';
import { type Mismatch, reviewOf } from './payment-review.js';
import { receivedAt, type Scene, type SceneMessage, type SceneOrder } from './payment-scene.js';

/**
 * What must have come of messages in the end, worked out from DESIGN 3 ("Orders keep facts", "Callbacks") by other means than
 * the code's: from all of them at once, whatever their order.
 */
export interface Expectation {
  readonly orders: ReadonlyMap<string, ExpectedOrder>;
  /** By the callback's id. */
  readonly callbacks: ReadonlyMap<string, ExpectedCallback>;
  /** By the transaction's stream: the orders that it may belong to. It belongs to one of them; to none where there is none. */
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
  /** For what of it waits, one of the reasons. */
  | { readonly kind: 'held'; readonly reasons: readonly HoldReason[] }
  | {
      readonly kind: 'settled';
      readonly as: 'mismatch' | 'ignored' | 'applied';
      readonly orderIds: readonly string[];
    };

/** What only the log knows: who came first, and what time or people did. */
export interface Circumstances {
  /** By callback, which of the contents under its name was accepted. */
  readonly accepted: ReadonlyMap<string, SceneMessage>;
  /** By the transaction's stream. */
  readonly links: ReadonlyMap<string, string>;
  /** By order: that it expired, or was canceled by its buyer. */
  readonly ends: ReadonlyMap<string, readonly ('expired' | 'canceled')[]>;
  readonly decisions: Decisions;
}

/** What operators have decided. */
export interface Decisions {
  /** By callback that was held: the order that it was applied to; null where it was dismissed. */
  readonly callbacks: ReadonlyMap<string, string | null>;
  /** `<transaction's stream>/<callback>`: where the decision came before a link. */
  readonly unparked: ReadonlySet<string>;
  /** By the notification's name: what waited in review. */
  readonly reviews: ReadonlyMap<string, 'apply' | 'dismiss'>;
  /** Notifications that were mismatches before a decision held for them, or without one. */
  readonly found: ReadonlySet<string>;
}

type Outcome =
  | { readonly kind: 'held'; readonly reason: HoldReason }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'mismatch' | 'entry'; readonly orderId: string };

type Told = SceneMessage['told'][number];

/** One thing that a message tells, in full. */
interface Notification {
  readonly name: string;
  readonly callback: string;
  readonly isOurs: boolean;
  readonly provider: SceneMessage['provider'];
  /** What the number names, whether or not there is such an order. */
  readonly number: string | null;
  readonly transaction: string | null;
  /** The transaction's stream. */
  readonly stream: string | null;
  readonly fact: Told['fact'];
  readonly atMs: number;
}

export function expectedOf(
  { orders }: Scene,
  { accepted, links, ends, decisions }: Circumstances,
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
    if (order === undefined) {
      return { kind: 'held', reason: number === null ? 'unlinked_transaction' : 'unknown_order' };
    }
    const reason = mismatchOf(notification, order);
    const isLinking = named !== undefined && reason !== 'merchant';
    if (isLinking || decisions.reviews.get(name) === 'apply') claim(stream, order);
    return tell(order, notification, reason);
  }

  function changesNothing({ fact, callback }: Notification): boolean {
    return fact.kind === 'nothing' || (fact.kind === 'unreadable' && decisions.callbacks.has(callback));
  }

  function tell(
    { id: orderId }: SceneOrder,
    { name, stream, fact, atMs }: Notification,
    reason: Mismatch['reason'] | null,
  ): Outcome {
    const entry = { transaction: stream ?? name, fact, atMs };
    if (reason === null) entries.get(orderId)?.push(entry);
    else mismatches.get(orderId)?.push({ name, reason, entry });
    return { kind: decisions.found.has(name) ? 'mismatch' : 'entry', orderId };
  }

  function linked(stream: string | null): SceneOrder | undefined {
    return byId.get(links.get(stream ?? '') ?? '');
  }

  function numbered(number: string | null): SceneOrder | undefined {
    return byId.get(number === null ? '' : (parseOrderNumber(number) ?? ''));
  }

  /** Where an operator sent it, unless its transaction was linked first. */
  function decidedOrder({ callback, stream }: Notification): SceneOrder | 'dismissed' | undefined {
    const decision = decisions.callbacks.get(callback);
    if (decision === undefined) return undefined;
    const isDecided = stream === null || decisions.unparked.has(`${stream}/${callback}`);
    if (!isDecided) return undefined;
    return decision === null ? 'dismissed' : byId.get(decision);
  }

  function claim(stream: string | null, order: SceneOrder): void {
    if (stream === null) return;
    claims.set(stream, (claims.get(stream) ?? new Set()).add(order.id));
  }

  function mismatchOf(
    { isOurs, provider, stream, fact }: Notification,
    order: SceneOrder,
  ): Mismatch['reason'] | null {
    if (!isOurs || provider !== order.provider) return 'merchant';
    if (stream !== null && links.get(stream) !== order.id) return 'transaction_of_another_order';
    return isPriced(fact, order) ? null : 'price';
  }
}

function notificationsOf(
  id: string,
  { told, provider, isOurs = true }: SceneMessage,
): readonly Notification[] {
  return told.map(({ number = null, transaction = null, fact, at = null }, index) => ({
    name: notificationName(id, index),
    callback: id,
    ...{ isOurs, provider, number, transaction, fact },
    stream: transaction === null ? null : transactionStreamId(provider, transaction),
    atMs: at === null ? receivedAt.getTime() : Date.parse(at),
  }));
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

/** The id by which the log knows a message. */
export function callbackOf({ provider, key }: SceneMessage): string {
  return callbackIdOf(provider, key);
}
