import { orderCategory, orderCodec, type OrderEvent } from '../../areas/payments/domain/order/events.js';
import { orderNumber } from '../../areas/payments/domain/order/number.js';
import {
  evolve as evolveOrder,
  type OrderState,
  type PlacedOrder,
} from '../../areas/payments/domain/order/state.js';
import { orderStatus, refundedAmount } from '../../areas/payments/domain/order/status.js';
import { shareAccessCategory, shareAccessCodec } from '../../areas/shares/domain/share-access/events.js';
import { shareCategory, shareCodec, type ShareEvent } from '../../areas/shares/domain/share/events.js';
import { chosenAssets, type StoredTerms } from '../../areas/shares/domain/share/status.js';
import {
  storageCategory,
  storageCodec,
  type StorageEvent,
} from '../../areas/storages/domain/storage/events.js';
import { evolve as evolveStorage, type StorageState } from '../../areas/storages/domain/storage/state.js';
import type { JsonObject, StoredEvent } from '../../event-sourcing/ports/domain-event.js';
import { StreamDamaged, UndecodableEvent } from '../../event-sourcing/ports/errors.js';
import { parseStreamName, streamIdOf } from '../../event-sourcing/ports/stream-name.js';
import { type WebhookData, webhookMessages, type WebhookType } from './message-types.js';
import { accessTypes, orderTypes, type SentTypes, shareTypes, storageTypes } from './sent-types.js';

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
  /** The state after that event; null where messages need the first event only. */
  readonly state: OrderState | StorageState | null;
}

/** How the service makes messages of the streams of a category. */
interface Source {
  /** By stored type. */
  readonly types: SentTypes;
  /** Folds an event; null where messages need the first event only. */
  readonly evolve: ((state: MessageFold['state'], event: StoredEvent) => MessageFold['state']) | null;
  /** @param fold of the stream up to the event */
  readonly data: (fold: MessageFold, event: StoredEvent) => JsonObject;
}

const sources: ReadonlyMap<string, Source> = new Map([
  [orderCategory, { types: orderTypes, evolve: evolveAnyOrder, data: orderData }],
  [shareCategory, { types: shareTypes, evolve: null, data: shareData }],
  [shareAccessCategory, { types: accessTypes, evolve: null, data: accessData }],
  [storageCategory, { types: storageTypes, evolve: evolveAnyStorage, data: storageData }],
]);

function evolveAnyOrder(state: MessageFold['state'], event: StoredEvent): OrderState {
  return evolveOrder((state ?? { status: 'absent' }) as OrderState, orderCodec.decode(event));
}

function evolveAnyStorage(state: MessageFold['state'], event: StoredEvent): StorageState {
  return evolveStorage((state ?? { status: 'absent' }) as StorageState, storageCodec.decode(event));
}

/** The categories of streams whose events can be sent. */
export const sentCategories: readonly string[] = [...sources.keys()];

/**
 * Returns the type of an event's message; null when the service sends none; `'unknown'` for an event of a newer release,
 * which may send one.
 */
export function messageTypeOf({
  stream,
  type,
}: Pick<StoredEvent, 'stream' | 'type'>): WebhookType | 'unknown' | null {
  const types = sourceOf(stream)?.types;
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
  return [...(sourceOf(event.stream)?.types.values() ?? [])].some((one) => one !== null && types.has(one));
}

/** Returns whether a message needs every event of the stream up to its event, and not only the first one. */
export function needsAll(stream: string): boolean {
  return (sourceOf(stream)?.evolve ?? null) !== null;
}

/** Folds the next event of a stream. @param fold null before the first event @throws UndecodableEvent */
export function foldEvent(fold: MessageFold | null, event: StoredEvent): MessageFold {
  const evolve = sourceOf(event.stream)?.evolve ?? null;
  const state = evolve === null ? null : evolve(fold?.state ?? null, event);
  return { first: fold?.first ?? event, revision: event.revision, state };
}

/**
 * Makes the message of an event: the public facts of the resource as they were after the event. Pure.
 * @param fold of the stream up to the event, with it
 * @throws UndecodableEvent, StreamDamaged
 */
export function makeMessage(fold: MessageFold, event: StoredEvent): WebhookMessage {
  const [type, source] = [messageTypeOf(event), sourceOf(event.stream)];
  if (type === null || source === null) throw new Error('the event has no message');
  if (type === 'unknown') {
    throw new UndecodableEvent(`the stream ${event.stream} has an event of the unknown type ${event.type}`);
  }
  // A schema that fits is the guard against a field that receivers must not see.
  const data = webhookMessages[type].data.parse(source.data(fold, event)) as JsonObject;
  return { type, timestamp: event.recordedAt.toISOString(), data };
}

function sourceOf(stream: string): Source | null {
  return sources.get(parseStreamName(stream)?.category ?? '') ?? null;
}

function orderData({ state }: MessageFold, last: StoredEvent): JsonObject {
  if (state?.status !== 'placed') throw headless(last);
  return { ...orderFields(streamIdOf(last), state), ...orderDetails(orderCodec.decode(last)) };
}

function orderFields(id: string, state: PlacedOrder): WebhookData<'order.expired'> {
  return {
    order_id: id,
    order_number: orderNumber(id),
    user_id: state.userId,
    project_id: state.projectId,
    plan_id: state.planId,
    provider: state.provider,
    amount: state.amount,
    currency: state.currency,
    status: orderStatus(state),
    refunded_amount: refundedAmount(state),
  };
}

/** The fields of one type beside those of every message about an order. */
type Details<Type extends WebhookType, Common extends WebhookType> = Omit<
  WebhookData<Type>,
  keyof WebhookData<Common>
>;
type OrderDetails<Type extends WebhookType> = Details<Type, 'order.expired'>;

function orderDetails(event: OrderEvent): JsonObject {
  switch (event.type) {
    case 'OrderPlaced':
      return { expires_at: event.data.expires_at } satisfies OrderDetails<'order.placed'>;
    case 'PaymentPending':
      return reportOf(event.data) satisfies OrderDetails<'order.payment_pending'>;
    case 'PaymentCaptured': {
      const { amount, charged = amount, currency } = event.data;
      const money = { captured_amount: charged, captured_currency: currency };
      return { ...reportOf(event.data), ...money } satisfies OrderDetails<'order.payment_captured'>;
    }
    case 'PaymentFailed': {
      const { reason } = event.data;
      return { ...reportOf(event.data), reason } satisfies OrderDetails<'order.payment_failed'>;
    }
    case 'RefundReported':
      return refundOf(event.data);
    case 'DisputeOpened':
      return disputeOf(event.data) satisfies OrderDetails<'order.dispute_opened'>;
    case 'DisputeClosed': {
      const { outcome } = event.data;
      return { ...disputeOf(event.data), outcome } satisfies OrderDetails<'order.dispute_closed'>;
    }
    case 'PaymentMismatchFound': {
      const { reason } = event.data;
      return { ...reportOf(event.data), reason } satisfies OrderDetails<'order.review_opened'>;
    }
    case 'ReviewResolved':
      return { action: event.data.action } satisfies OrderDetails<'order.review_resolved'>;
    case 'GrantRecipientGone':
      return { reason: event.data.reason } satisfies OrderDetails<'order.recipient_gone'>;
    case 'OrderExpired':
    case 'OrderCanceled':
    case 'OrderFulfilled':
    case 'FulfilmentRevoked':
      return {};
  }
}

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
  const first = shareCodec.decode(head);
  if (first.type !== 'ShareCreated') throw headless(last);
  const ids = { share_id: streamIdOf(last), project_id: first.data.project_id };
  return { ...ids, ...shareDetails(shareCodec.decode(last)) };
}

function accessData({ first: head }: MessageFold, last: StoredEvent): JsonObject {
  const [first, event] = [shareAccessCodec.decode(head), shareAccessCodec.decode(last)];
  if (first.type !== 'ShareVerified') throw headless(last);
  const { share_id, project_id } = first.data;
  const details = event.type === 'ShareDownloaded' ? { asset_id: event.data.asset_id } : {};
  return { share_id, project_id, ...details };
}

function shareDetails(event: ShareEvent): JsonObject {
  switch (event.type) {
    case 'ShareCreated':
      return { ...publicTerms(event.data), asset_ids: [...chosenAssets(event.data)] };
    case 'ShareChanged':
      return publicTerms(event.data);
    case 'SharePasswordChanged':
      return { has_password: event.data.password_hash !== null };
    case 'ShareVerificationThrottled':
      return { failures: event.data.failures };
    case 'ShareUsed':
    case 'ShareGuessingLimitReached':
    case 'ShareRevoked':
      return {};
  }
}

/** Title and note are sealed, and pages that may show the share are names that a member wrote. */
function publicTerms({ expires_at, max_uses, allow_download }: StoredTerms) {
  return { expires_at, max_uses, allow_download };
}

function storageData({ first: head, state }: MessageFold, last: StoredEvent): JsonObject {
  const first = storageCodec.decode(head);
  if (state === null || state.status === 'absent' || state.status === 'placed') throw headless(last);
  if (first.type !== 'StorageCreated') throw headless(last);
  const fields: WebhookData<'storage.changed'> = {
    storage_id: streamIdOf(last),
    project_id: state.projectId,
    provider: first.data.provider,
    status: state.status,
  };
  return { ...fields, ...storageDetails(storageCodec.decode(last)) };
}

function storageDetails(event: StorageEvent): JsonObject {
  switch (event.type) {
    case 'StorageDeliveryChanged':
      return { mode: event.data.mode };
    case 'StorageTestStarted':
      return { test_id: event.data.test_id };
    case 'StorageTestSucceeded':
      return { test_id: event.data.test_id, warnings: event.data.warnings.map(({ code }) => code) };
    case 'StorageTestFailed':
      return { test_id: event.data.test_id, code: event.data.code };
    case 'StorageCreated':
    case 'StorageChanged':
    case 'StorageCredentialsReplaced':
    case 'StorageCorsSet':
    case 'StorageDisabled':
    case 'StorageEnabled':
    case 'StorageDeleted':
      return {};
  }
}

function headless({ stream, revision }: StoredEvent): StreamDamaged {
  return new StreamDamaged(stream, `the stream ${stream} does not begin as its event ${revision} needs`);
}
