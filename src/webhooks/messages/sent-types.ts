import type { OrderEvent } from '../../areas/payments/domain/order/events.js';
import type { ShareAccessEvent } from '../../areas/shares/domain/share-access/events.js';
import type { ShareEvent } from '../../areas/shares/domain/share/events.js';
import type { StorageEvent } from '../../areas/storages/domain/storage/events.js';
import type { WebhookType } from './message-types.js';

/** The message type of each stored type of a category; null: the service sends none. */
export type SentTypes = ReadonlyMap<string, WebhookType | null>;

/** A new event does not compile without an entry. */
type Drafts<Event extends { readonly type: string }> = Readonly<Record<Event['type'], WebhookType | null>>;

export const orderTypes = mapOf({
  OrderPlaced: 'order.placed',
  PaymentPending: 'order.payment_pending',
  PaymentCaptured: 'order.payment_captured',
  PaymentFailed: 'order.payment_failed',
  OrderExpired: 'order.expired',
  OrderCanceled: 'order.canceled',
  RefundReported: 'order.refund_reported',
  DisputeOpened: 'order.dispute_opened',
  DisputeClosed: 'order.dispute_closed',
  PaymentMismatchFound: 'order.review_opened',
  ReviewResolved: 'order.review_resolved',
  GrantRecipientGone: 'order.recipient_gone',
  OrderFulfilled: 'order.fulfilled',
  FulfilmentRevoked: 'order.fulfilment_revoked',
} satisfies Drafts<OrderEvent>);

export const shareTypes = mapOf({
  ShareCreated: 'share.created',
  ShareChanged: 'share.changed',
  SharePasswordChanged: 'share.password_changed',
  // Each use is an access too, with a message of the type share.opened.
  ShareUsed: null,
  ShareVerificationThrottled: 'share.throttled',
  ShareGuessingLimitReached: 'share.guessing_limit_reached',
  ShareRevoked: 'share.revoked',
} satisfies Drafts<ShareEvent>);

export const accessTypes = mapOf({
  ShareVerified: 'share.opened',
  ShareDownloaded: 'share.downloaded',
} satisfies Drafts<ShareAccessEvent>);

export const storageTypes = mapOf({
  StorageCreated: 'storage.created',
  StorageChanged: 'storage.changed',
  StorageCredentialsReplaced: 'storage.credentials_replaced',
  StorageDeliveryChanged: 'storage.delivery_changed',
  StorageTestStarted: 'storage.test_started',
  StorageTestSucceeded: 'storage.test_succeeded',
  StorageTestFailed: 'storage.test_failed',
  StorageCorsSet: 'storage.cors_set',
  StorageDisabled: 'storage.disabled',
  StorageEnabled: 'storage.enabled',
  StorageDeleted: 'storage.deleted',
} satisfies Drafts<StorageEvent>);

function mapOf(types: Readonly<Record<string, WebhookType | null>>): SentTypes {
  return new Map(Object.entries(types));
}
