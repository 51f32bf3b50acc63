import { z } from 'zod';
import { entityId, instant } from '../../validation/fields.js';
import { mismatchReason } from '../../areas/payments/domain/order/events.js';
import { goneReason } from '../../areas/payments/domain/order/unused.js';
import { orderStatusSchema } from '../../areas/payments/domain/order/fold.js';
import { currencyCode, minorAmount, refundStatus } from '../../areas/payments/domain/fact.js';
import { paymentAction, paymentProvider } from '../../areas/payments/domain/payment.js';
import { deliveryMode } from '../../areas/storages/domain/delivery/delivery.js';
import { storageProvider } from '../../areas/storages/domain/bucket/bucket.js';
import { storageStatus } from '../../areas/storages/domain/storage/fold.js';
import { testFailureCode, testWarningCode } from '../../areas/storages/domain/delivery/test-failure.js';

/** The fields in `data` of every message about an order. */
const order = {
  order_id: entityId,
  order_number: z.string(),
  user_id: entityId,
  project_id: entityId.nullable(),
  plan_id: z.string(),
  provider: paymentProvider,
  amount: minorAmount,
  currency: currencyCode,
  /** After the event. */
  status: orderStatusSchema,
  refunded_amount: minorAmount,
};

const share = { share_id: entityId, project_id: entityId };
/** Title and note are sealed, and pages that may show the share are names that a member wrote. */
const terms = {
  expires_at: instant.nullable(),
  max_uses: z.int().nullable(),
  allow_download: z.boolean(),
};

const storage = {
  storage_id: entityId,
  project_id: entityId,
  provider: storageProvider,
  /** After the event. */
  status: z.enum([...storageStatus.options, 'deleted']),
};

const report = { transaction_id: z.string().nullable(), at: instant };
const dispute = {
  ...{ ...report, dispute_id: z.string() },
  disputed_amount: minorAmount.nullable(),
  disputed_currency: currencyCode.nullable(),
};

/**
 * The messages that endpoints can get, by type: when the service sends it, and the strict schema of its `data`. The
 * receivers depend on names and fields, so both only grow. No field holds text that a person wrote, a sealed value or a
 * secret. docs/webhooks.md#types lists them.
 */
export const webhookMessages = {
  'order.placed': message('a user placed an order', { ...order, expires_at: instant }),
  'order.payment_pending': message('a payment began', { ...order, ...report }),
  'order.payment_captured': message('a payment arrived', {
    ...{ ...order, ...report },
    captured_amount: minorAmount,
    captured_currency: currencyCode,
  }),
  'order.payment_failed': message('a payment failed', {
    ...{ ...order, ...report },
    reason: z.enum(['failed', 'expired', 'canceled']),
  }),
  'order.expired': message('no payment came in time', order),
  'order.canceled': message('the buyer canceled the order', order),
  'order.refund_reported': message('the platform reported a refund', {
    ...{ ...order, ...report },
    /** Null: the amount is the total of all refunds so far. */
    refund_id: z.string().nullable(),
    refund_status: refundStatus,
    refund_amount: minorAmount,
    refund_currency: currencyCode,
  }),
  'order.dispute_opened': message('the payer disputed a payment', { ...order, ...dispute }),
  'order.dispute_closed': message('a dispute ended', {
    ...{ ...order, ...dispute },
    outcome: z.enum(['won', 'lost']),
  }),
  'order.review_opened': message('a genuine report differs from the order', {
    ...{ ...order, ...report },
    reason: mismatchReason,
  }),
  'order.review_resolved': message('an operator decided on such a report', {
    ...order,
    action: paymentAction,
  }),
  'order.recipient_gone': message(
    'the project or the buyer of a paid order is gone, so the money bought nothing',
    { ...order, reason: goneReason },
  ),
  'order.fulfilled': message('the buyer got what the plan grants', order),
  'order.fulfilment_revoked': message('the buyer lost it again', order),
  'share.created': message('a member shared assets', {
    ...{ ...share, ...terms },
    /** Empty for a share of a tag. */
    asset_ids: z.array(entityId),
  }),
  'share.changed': message('a member changed the terms', { ...share, ...terms }),
  'share.password_changed': message('a member changed or removed the password', {
    ...share,
    has_password: z.boolean(),
  }),
  'share.opened': message('a visitor opened the share', share),
  'share.downloaded': message('the page of a visitor said that it saves a file, once for each asset', {
    ...share,
    asset_id: entityId,
  }),
  'share.throttled': message('a client of the share has to wait, or many wrong passwords come', {
    ...share,
    failures: z.int(),
  }),
  'share.guessing_limit_reached': message('the share checks no more passwords for up to a day', share),
  'share.revoked': message('the share ended', share),
  'storage.created': message('a member bound a bucket', storage),
  'storage.changed': message('the configuration changed', storage),
  'storage.credentials_replaced': message('the credentials changed', storage),
  'storage.delivery_changed': message('the delivery mode changed', { ...storage, mode: deliveryMode }),
  'storage.test_started': message('a test began', { ...storage, test_id: entityId }),
  'storage.test_succeeded': message('a test passed', {
    ...{ ...storage, test_id: entityId },
    warnings: z.array(testWarningCode),
  }),
  'storage.test_failed': message('a test failed', { ...storage, test_id: entityId, code: testFailureCode }),
  'storage.cors_set': message('the service set the CORS rule of the bucket', storage),
  'storage.disabled': message('a member disabled the storage', storage),
  'storage.enabled': message('a member enabled the storage', storage),
  'storage.deleted': message('the storage was deleted', storage),
} as const;

export type WebhookType = keyof typeof webhookMessages;

/** The fields of `data` of a type. */
export type WebhookData<Type extends WebhookType> = z.input<(typeof webhookMessages)[Type]['data']>;

export const webhookTypes = Object.keys(webhookMessages) as readonly WebhookType[];

/** `shown` takes the fields of a message from those of an event. */
function message<Fields extends z.ZodRawShape>(sentWhen: string, fields: Fields) {
  return { sentWhen, data: z.strictObject(fields), shown: z.object(fields) };
}
