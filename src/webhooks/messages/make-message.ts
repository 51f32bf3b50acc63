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

/** How the service makes messages of the streams of a category. */
interface Source {
  /** By stored type. */
  readonly types: SentTypes;
  /** Events of the stream that the message needs: its first event, or all up to the event. */
  readonly needs: 'first' | 'all';
  /** @param history the needed events before the last one, and the event itself, in order */
  readonly data: (history: readonly StoredEvent[], event: StoredEvent) => JsonObject;
}

const sources: ReadonlyMap<string, Source> = new Map([
  [orderCategory, { types: orderTypes, needs: 'all', data: orderData }],
  [shareCategory, { types: shareTypes, needs: 'first', data: shareData }],
  [shareAccessCategory, { types: accessTypes, needs: 'first', data: accessData }],
  [storageCategory, { types: storageTypes, needs: 'all', data: storageData }],
]);

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

/** Returns which events of the stream the message needs besides its event: the first one, or all before it. */
export function historyFor(stream: string): 'first' | 'all' {
  return sourceOf(stream)?.needs ?? 'first';
}

/**
 * Makes the message of an event: the public facts of the resource as they were after the event. Pure.
 * @param history the events that `historyFor` names, and the event itself as the last one
 * @throws UndecodableEvent, StreamDamaged
 */
export function makeMessage(history: readonly StoredEvent[]): WebhookMessage {
  const event = history.at(-1);
  const type = event === undefined ? null : messageTypeOf(event);
  const source = event === undefined ? null : sourceOf(event.stream);
  if (event === undefined || type === null || source === null) throw new Error('the event has no message');
  if (type === 'unknown') {
    throw new UndecodableEvent(`the stream ${event.stream} has an event of the unknown type ${event.type}`);
  }
  // A schema that fits is the guard against a field that receivers must not see.
  const data = webhookMessages[type].data.parse(source.data(history, event)) as JsonObject;
  return { type, timestamp: event.recordedAt.toISOString(), data };
}

function sourceOf(stream: string): Source | null {
  return sources.get(parseStreamName(stream)?.category ?? '') ?? null;
}

function orderData(history: readonly StoredEvent[], last: StoredEvent): JsonObject {
  const events = history.map((stored) => orderCodec.decode(stored));
  const state = events.reduce<OrderState>(evolveOrder, { status: 'absent' });
  const event = events.at(-1);
  if (state.status === 'absent' || event === undefined) throw headless(last);
  return { ...orderFields(streamIdOf(last), state), ...orderDetails(event) };
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

function shareData(history: readonly StoredEvent[], last: StoredEvent): JsonObject {
  const [first, event] = [history[0] ?? last, last].map((stored) => shareCodec.decode(stored));
  if (first?.type !== 'ShareCreated' || event === undefined) throw headless(last);
  const ids = { share_id: streamIdOf(last), project_id: first.data.project_id };
  return { ...ids, ...shareDetails(event) };
}

function accessData(history: readonly StoredEvent[], last: StoredEvent): JsonObject {
  const [first, event] = [history[0] ?? last, last].map((stored) => shareAccessCodec.decode(stored));
  if (first?.type !== 'ShareVerified' || event === undefined) throw headless(last);
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

function storageData(history: readonly StoredEvent[], last: StoredEvent): JsonObject {
  const events = history.map((stored) => storageCodec.decode(stored));
  const state = events.reduce<StorageState>(evolveStorage, { status: 'absent' });
  const [first, event] = [events[0], events.at(-1)];
  if (state.status === 'absent' || first?.type !== 'StorageCreated' || event === undefined)
    throw headless(last);
  const fields: WebhookData<'storage.changed'> = {
    storage_id: streamIdOf(last),
    project_id: state.projectId,
    provider: first.data.provider,
    status: state.status,
  };
  return { ...fields, ...storageDetails(event) };
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
