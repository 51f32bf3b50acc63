import { type OrderEvent, orderEvents } from '../../areas/payments/domain/order/events.js';
import { orderNumber } from '../../areas/payments/domain/payment-ids.js';
import {
  evolve as evolveOrder,
  type OrderState,
  type PlacedOrder,
} from '../../areas/payments/domain/order/state.js';
import { orderStatus, refundedAmount } from '../../areas/payments/domain/order/fold.js';
import { shareAccessEvents } from '../../areas/shares/domain/share-access/events.js';
import { type ShareEvent, shareEvents } from '../../areas/shares/domain/share/events.js';
import { type StorageEvent, storageEvents } from '../../areas/storages/domain/storage/events.js';
import { evolve as evolveStorage, type StorageState } from '../../areas/storages/domain/storage/state.js';
import {
  type DomainEvent,
  type JsonObject,
  type StoredEvent,
  parseStreamName,
  streamIdOf,
} from '../../event-sourcing/ports/domain-event.js';
import type { AggregateEvents } from '../../event-sourcing/ports/events.js';
import { eventBytes } from '../../event-sourcing/feeding/read-log.js';
import { StreamDamaged, UndecodableEvent } from '../../event-sourcing/ports/errors.js';
import { publicTerms, type WebhookData, webhookMessages, type WebhookType } from './message-types.js';

/** A message before it is signed. The body of an event is the same at each attempt. */
export interface WebhookMessage {
  readonly type: WebhookType;
  /** When the log recorded the event. */
  readonly timestamp: string;
  readonly data: JsonObject;
}

/** The part of a stream's history that its messages need. A message costs its event alone where the fold is kept. */
export interface MessageFold {
  /** The first event of the stream. */
  readonly first: StoredEvent;
  /** The revision that was folded last. */
  readonly revision: bigint;
  /** The bytes of what it holds, about. */
  readonly bytes: number;
  /** The state after that event; null where messages need the first event only. */
  readonly state: OrderState | StorageState | null;
}

/** How the service makes messages of the streams of a category. */
interface Source {
  readonly events: AggregateEvents<DomainEvent, WebhookType>;
  /** Folds an event; null where messages need the first event only. */
  readonly evolve: ((state: MessageFold['state'], event: StoredEvent) => MessageFold['state']) | null;
  /** @param fold of the stream up to the event */
  readonly data: (fold: MessageFold, event: StoredEvent) => JsonObject;
}

const sources: ReadonlyMap<string, Source> = new Map<string, Source>([
  [orderEvents.category, { events: orderEvents, evolve: evolveAnyOrder, data: orderData }],
  [shareEvents.category, { events: shareEvents, evolve: null, data: shareData }],
  [shareAccessEvents.category, { events: shareAccessEvents, evolve: null, data: accessData }],
  [storageEvents.category, { events: storageEvents, evolve: evolveAnyStorage, data: storageData }],
]);

function evolveAnyOrder(state: MessageFold['state'], event: StoredEvent): OrderState {
  return evolveOrder((state ?? { status: 'absent' }) as OrderState, orderEvents.codec.decode(event));
}

function evolveAnyStorage(state: MessageFold['state'], event: StoredEvent): StorageState {
  return evolveStorage((state ?? { status: 'absent' }) as StorageState, storageEvents.codec.decode(event));
}

/** The categories of streams whose events can be sent. */
export const sentCategories: readonly string[] = [...sources.keys()];

/**
 * Returns the type of an event's message; null when the service sends none; `'unknown'` for an event of a newer release,
 * which may send one.
 */
export function messageTypeOf(input: Pick<StoredEvent, 'stream' | 'type'>): WebhookType | 'unknown' | null {
  const { stream, type } = input;
  const types = sourceOf(stream)?.events.messages;
  if (types?.has(type) === false) return 'unknown';
  return types?.get(type) ?? null;
}

/** Returns whether an endpoint of these types gets a message for the event, or may get one from a newer release. */
export function isSelected(
  { types }: { readonly types: ReadonlySet<WebhookType> },
  event: Pick<StoredEvent, 'stream' | 'type'>,
): boolean {
  const type = messageTypeOf(event);
  if (type !== 'unknown') return type !== null && types.has(type);
  return [...(sourceOf(event.stream)?.events.messages.values() ?? [])].some(
    (one) => one !== null && types.has(one),
  );
}

/** Returns whether a message needs every event of the stream up to its event, and not only the first one. */
export function needsAll(stream: string): boolean {
  return (sourceOf(stream)?.evolve ?? null) !== null;
}

/** Folds the next event of a stream. @param fold null before the first event @throws UndecodableEvent */
export function foldEvent(fold: MessageFold | null, event: StoredEvent): MessageFold {
  const evolve = sourceOf(event.stream)?.evolve ?? null;
  const state = evolve === null ? null : evolve(fold?.state ?? null, event);
  const bytes = fold === null || evolve !== null ? (fold?.bytes ?? 0) + eventBytes(event) : fold.bytes;
  return { first: fold?.first ?? event, revision: event.revision, bytes, state };
}

/**
 * Makes the message of an event: the public facts of the resource as they were after the event. Pure.
 * @param fold of the stream up to the event, with it
 * @throws UndecodableEvent, StreamDamaged
 */
export function makeMessage(fold: MessageFold, event: StoredEvent): WebhookMessage {
  const [type, source] = [messageTypeOf(event), sourceOf(event.stream)];
  if (type === null || source === null) throw new Error('the event has no message');
  if (type === 'unknown')
    throw new UndecodableEvent(`the stream ${event.stream} has an event of the unknown type ${event.type}`);
  // A schema that fits is the guard against a field that receivers must not see.
  const data = webhookMessages[type].data.parse(source.data(fold, event)) as JsonObject;
  return { type, timestamp: event.recordedAt.toISOString(), data };
}

function sourceOf(stream: string): Source | null {
  return sources.get(parseStreamName(stream)?.category ?? '') ?? null;
}

function orderData({ state }: MessageFold, last: StoredEvent): JsonObject {
  if (state?.status !== 'placed') throw headless(last);
  return {
    ...orderFields(streamIdOf(last), state),
    ...detailsOf(orderDetails, orderEvents.codec.decode(last)),
  };
}

function orderFields(id: string, state: PlacedOrder): WebhookData<'order.expired'> {
  const { user_id, project_id, plan_id, provider, amount, currency } = state;
  return {
    ...{ order_id: id, order_number: orderNumber(id), user_id, project_id, plan_id, provider },
    ...{ amount, currency, status: orderStatus(state), refunded_amount: refundedAmount(state) },
  };
}

/** The fields of one type beside those of every message about an order. */
type Details<Type extends WebhookType, Common extends WebhookType> = Omit<
  WebhookData<Type>,
  keyof WebhookData<Common>
>;
type OrderDetails<Type extends WebhookType> = Details<Type, 'order.expired'>;

/** The further fields of the messages of a category, by stored type; none for a type that is left out. The schemas of messages require them. */
type DetailsOf<Event extends DomainEvent> = {
  readonly [Type in Event['type']]?: (data: Extract<Event, { type: Type }>['data']) => JsonObject;
};

function detailsOf<Event extends DomainEvent>(table: DetailsOf<Event>, { type, data }: Event): JsonObject {
  const details = table as Readonly<Record<string, ((data: unknown) => JsonObject) | undefined>>;
  return details[type]?.(data) ?? {};
}

const orderDetails: DetailsOf<OrderEvent> = {
  OrderPlaced: ({ expires_at }) => ({ expires_at }) satisfies OrderDetails<'order.placed'>,
  PaymentPending: (data) => reportOf(data) satisfies OrderDetails<'order.payment_pending'>,
  PaymentCaptured: (data) => {
    const { amount, charged = amount, currency } = data;
    const money = { captured_amount: charged, captured_currency: currency };
    return { ...reportOf(data), ...money } satisfies OrderDetails<'order.payment_captured'>;
  },
  PaymentFailed: (data) =>
    ({ ...reportOf(data), reason: data.reason }) satisfies OrderDetails<'order.payment_failed'>,
  RefundReported: refundOf,
  DisputeOpened: (data) => disputeOf(data) satisfies OrderDetails<'order.dispute_opened'>,
  DisputeClosed: (data) =>
    ({ ...disputeOf(data), outcome: data.outcome }) satisfies OrderDetails<'order.dispute_closed'>,
  PaymentMismatchFound: (data) =>
    ({ ...reportOf(data), reason: data.reason }) satisfies OrderDetails<'order.review_opened'>,
  ReviewResolved: ({ action }) => ({ action }) satisfies OrderDetails<'order.review_resolved'>,
  GrantRecipientGone: ({ reason }) => ({ reason }) satisfies OrderDetails<'order.recipient_gone'>,
};

function reportOf({ transaction_id, at }: { readonly transaction_id: string | null; readonly at: string }) {
  return { transaction_id, at };
}

function refundOf(
  data: Extract<OrderEvent, { type: 'RefundReported' }>['data'],
): OrderDetails<'order.refund_reported'> {
  const { refund, amount, currency } = data;
  const inTotal = refund === 'in-total';
  return {
    ...reportOf(data),
    refund_id: inTotal ? null : refund.refund_id,
    refund_status: inTotal ? 'succeeded' : refund.status,
    refund_amount: amount,
    refund_currency: currency,
  };
}

function disputeOf(
  data: Extract<OrderEvent, { type: 'DisputeOpened' | 'DisputeClosed' }>['data'],
): OrderDetails<'order.dispute_opened'> {
  const { dispute_id, amount = null, currency = null } = data;
  return { ...reportOf(data), dispute_id, disputed_amount: amount, disputed_currency: currency };
}

function shareData({ first: head }: MessageFold, last: StoredEvent): JsonObject {
  const first = shareEvents.codec.decode(head);
  if (first.type !== 'ShareCreated') throw headless(last);
  const ids = { share_id: streamIdOf(last), project_id: first.data.project_id };
  return { ...ids, ...detailsOf(shareDetails, shareEvents.codec.decode(last)) };
}

function accessData({ first: head }: MessageFold, last: StoredEvent): JsonObject {
  const [first, event] = [shareAccessEvents.codec.decode(head), shareAccessEvents.codec.decode(last)];
  if (first.type !== 'ShareVerified') throw headless(last);
  const { share_id, project_id } = first.data;
  const details = event.type === 'ShareDownloaded' ? { asset_id: event.data.asset_id } : {};
  return { share_id, project_id, ...details };
}

const shareDetails: DetailsOf<ShareEvent> = {
  ShareCreated: (data) => ({ ...publicTerms.parse(data), asset_ids: data.asset_ids }),
  ShareChanged: (data) => publicTerms.parse(data),
  SharePasswordChanged: ({ password_hash }) => ({ has_password: password_hash !== null }),
  ShareVerificationThrottled: ({ failures }) => ({ failures }),
};

function storageData({ first: head, state }: MessageFold, last: StoredEvent): JsonObject {
  const first = storageEvents.codec.decode(head);
  if (state === null || state.status === 'absent' || state.status === 'placed') throw headless(last);
  if (first.type !== 'StorageCreated') throw headless(last);
  const fields: WebhookData<'storage.changed'> = {
    storage_id: streamIdOf(last),
    project_id: state.projectId,
    provider: first.data.provider,
    status: state.status,
  };
  return { ...fields, ...detailsOf(storageDetails, storageEvents.codec.decode(last)) };
}

const storageDetails: DetailsOf<StorageEvent> = {
  StorageDeliveryChanged: ({ mode }) => ({ mode }),
  StorageTestStarted: ({ test_id }) => ({ test_id }),
  StorageTestSucceeded: ({ test_id, warnings }) => ({ test_id, warnings: warnings.map(({ code }) => code) }),
  StorageTestFailed: ({ test_id, code }) => ({ test_id, code }),
};

function headless({ stream, revision }: StoredEvent): StreamDamaged {
  return new StreamDamaged(stream, `the stream ${stream} does not begin as its event ${revision} needs`);
}
