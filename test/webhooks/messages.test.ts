import test from 'ava';
import { z } from 'zod';
import { Webhook } from 'standardwebhooks';
import type { JsonObject, StoredEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { UndecodableEvent } from '../../src/event-sourcing/ports/errors.js';
import { parseEndpoints } from '../../src/webhooks/endpoint.js';
import {
  foldEvent,
  makeMessage,
  type MessageFold,
  messageTypeOf,
  sentCategories,
} from '../../src/webhooks/messages/make-message.js';
import {
  type WebhookType,
  webhookMessages,
  webhookTypes,
} from '../../src/webhooks/messages/message-types.js';
import { signedRequest, webhookId } from '../../src/webhooks/attempt.js';
import { findCanaries } from '../support/examples/canaries.js';
import { everyEvent } from '../support/examples/every-event.js';
import { orderId, projectId, shareId, storageId, userId } from '../support/examples/ids.js';
import { sealedExample } from '../support/examples/sealed.js';
import { storableEvent, webhookSecret } from '../support/given/given-webhooks.js';

const at = new Date('2026-01-05T00:00:00.000Z');
const categories = ['order', 'share', 'shareaccess', 'storage'] as const;
const ids = { order: orderId, share: shareId, shareaccess: shareId, storage: storageId };

const stored = (
  stream: string,
  revision: number,
  [type, data]: readonly [string, JsonObject],
): StoredEvent => ({
  ...storableEvent(type, data, at),
  ...{ stream, revision: BigInt(revision), recordedAt: at },
});

/** Makes the message of the last event. @param history the whole stream up to it */
function messageAfter(history: readonly StoredEvent[]) {
  const fold = history.reduce<MessageFold | null>(foldEvent, null);
  const event = history.at(-1);
  if (fold === null || event === undefined) throw new Error('a history has no event');
  return makeMessage(fold, event);
}

/** Returns the history of each sendable example: the first event of its category, and the event. */
function histories(): readonly (readonly StoredEvent[])[] {
  return categories.flatMap((category) => {
    const stream = `${category}-${ids[category]}`;
    const [first, ...rest] = Object.entries(everyEvent[category]) as [string, JsonObject][];
    if (first === undefined) throw new Error('a category has no example');
    const head = stored(stream, 0, first);
    return [[head], ...rest.map((event) => [head, stored(stream, 1, event)])];
  });
}

test('Every event of a sent category makes a message of its type, or is known not to be sent', (t) => {
  t.deepEqual([...sentCategories].sort(), [...categories].sort());
  const made = new Map<WebhookType, unknown>();
  const unsent: string[] = [];
  for (const history of histories()) {
    const event = history.at(-1);
    if (event === undefined) continue;
    const type = messageTypeOf(event);
    if (type === null || type === 'unknown') {
      unsent.push(event.type);
      continue;
    }
    const message = messageAfter(history);
    t.is(message.type, type);
    t.is(message.timestamp, at.toISOString());
    const parsed = webhookMessages[type].data.safeParse(message.data);
    t.true(parsed.success, `${type}: ${parsed.error?.message ?? ''}`);
    made.set(type, message.data);
  }
  t.deepEqual(unsent, ['ShareUsed']);
  t.deepEqual([...made.keys()].sort(), [...webhookTypes].sort(), 'each type is made by an event');
});

test('An event of an unknown type has a message only for a newer release', (t) => {
  const type = 'AddedByANewerRelease';
  for (const category of sentCategories) {
    const event = { stream: `${category}-${orderId}`, type };
    t.is(messageTypeOf(event), 'unknown');
    t.throws(() => messageAfter([stored(event.stream, 0, [type, {}])]), { instanceOf: UndecodableEvent });
  }
  t.is(messageTypeOf({ stream: `user-${userId}`, type }), null);
});

test('A message holds the facts of the resource after its event', (t) => {
  const stream = `order-${orderId}`;
  const { OrderPlaced: placed, PaymentCaptured: captured } = everyEvent.order;
  const history = [
    stored(stream, 0, ['OrderPlaced', placed]),
    stored(stream, 1, ['PaymentCaptured', { ...captured, charged: 2_500 }]),
  ];
  t.like(messageAfter(history.slice(0, 1)), {
    type: 'order.placed',
    data: { order_id: orderId, user_id: userId, project_id: projectId, status: 'created', amount: 1_999 },
  });
  t.like(messageAfter(history), {
    type: 'order.payment_captured',
    data: { order_id: orderId, status: 'paid', captured_amount: 2_500, transaction_id: 'tx-1' },
  });
});

test('A message says what its event holds in another form', (t) => {
  const { order, share, storage } = everyEvent;
  const money = { amount: 100, currency: 'USD' };
  const { callback, transaction_id, at: paidAt } = order.PaymentCaptured;
  const rows: readonly (readonly [keyof typeof ids, string, JsonObject, JsonObject])[] = [
    [
      ...(['order', 'PaymentCaptured'] as const),
      { callback, transaction_id, at: paidAt, ...money },
      { captured_amount: 100, captured_currency: 'USD' },
    ],
    [
      ...(['order', 'RefundReported'] as const),
      { ...order.RefundReported, refund: { refund_id: 're-2', status: 'pending' }, ...money },
      { refund_id: 're-2', refund_status: 'pending', refund_amount: 100, refund_currency: 'USD' },
    ],
    [
      ...(['order', 'RefundReported'] as const),
      { ...order.RefundReported, refund: 'in-total' },
      { refund_id: null, refund_status: 'succeeded' },
    ],
    ...(['DisputeOpened', 'DisputeClosed'] as const).map(
      (type) =>
        [
          ...(['order', type] as const),
          { ...order[type], ...money },
          { disputed_amount: 100, disputed_currency: 'USD' },
        ] as const,
    ),
    [
      ...(['order', 'DisputeOpened'] as const),
      order.DisputeOpened,
      { disputed_amount: null, disputed_currency: null },
    ],
    ['share', 'SharePasswordChanged', share.SharePasswordChanged, { has_password: true }],
    [
      ...(['share', 'SharePasswordChanged'] as const),
      { ...share.SharePasswordChanged, password_hash: null },
      { has_password: false },
    ],
    ['storage', 'StorageTestSucceeded', storage.StorageTestSucceeded, { warnings: ['cors_missing'] }],
  ];
  for (const [category, type, data, told] of rows) {
    const stream = `${category}-${ids[category]}`;
    const [head] = Object.entries(everyEvent[category]) as [string, JsonObject][];
    if (head === undefined) throw new Error('a category has no example');
    const history = [stored(stream, 0, head), stored(stream, 1, [type, data])];
    t.like(messageAfter(history).data, told, `${type} ${JSON.stringify(told)}`);
  }
});

test('No message holds a sealed value, a digest, or text that a person wrote', (t) => {
  // Given events whose every free text is a canary
  const canary = 'Canary-of-a-person';
  const texts = { name: canary, bucket: canary, base_path: canary, cdn_domain: canary, endpoint: canary };
  const examples: readonly (readonly [keyof typeof ids, string, JsonObject])[] = [
    ['storage', 'StorageCreated', { ...everyEvent.storage.StorageCreated, ...texts, region: canary }],
    ['storage', 'StorageChanged', { ...everyEvent.storage.StorageChanged, ...texts, region: canary }],
    ['share', 'ShareCreated', { ...everyEvent.share.ShareCreated, tag: canary, frame_ancestors: [canary] }],
    ['share', 'ShareChanged', { ...everyEvent.share.ShareChanged, frame_ancestors: [canary] }],
  ];
  const canaryHistories = examples.map(([category, type, data]) => {
    const [head] = Object.entries(everyEvent[category]) as [string, JsonObject][];
    const stream = `${category}-${ids[category]}`;
    const first = stored(stream, 0, type.endsWith('Created') ? [type, data] : (head ?? [type, data]));
    return type.endsWith('Created') ? [first] : [first, stored(stream, 1, [type, data])];
  });
  const sought = {
    'a text of a person': Buffer.from(canary),
    'a sealed value': Buffer.from(sealedExample('canary secret')),
    'the form of a sealed value': Buffer.from('"v1.'),
    'a digest': Buffer.from('ab'.repeat(32)),
  };
  // When the messages are made
  const bodies = [...histories(), ...canaryHistories]
    .filter((history) => messageTypeOf(history.at(-1) ?? { stream: '', type: '' }) !== null)
    .map((history) => JSON.stringify(messageAfter(history)));
  // Then none of it is in them
  t.true(bodies.length > 30);
  t.deepEqual(
    bodies.flatMap((body) => findCanaries(sought, body, Buffer.from(body))),
    [],
  );
});

test('No message type has a field for a name, an address, a note, a token, a password or a key', (t) => {
  const forbidden =
    /name|email|nick|title|note|token|secret|credential|digest|callback|bucket|endpoint|(^|_)key/;
  for (const type of webhookTypes) {
    const fields = Object.keys(webhookMessages[type].data.shape).filter((field) => forbidden.test(field));
    t.deepEqual(fields, [], type);
  }
});

test('The package standardwebhooks verifies the requests, with each of two secrets', (t) => {
  const other = `whsec_${Buffer.alloc(24, 9).toString('base64')}`;
  const [endpoint] = parseEndpoints(`https://shop.example.org/hook ${other},${webhookSecret} *`);
  if (endpoint === undefined) throw new Error('no endpoint');
  const message = messageAfter(histories()[0] ?? []);
  const id = webhookId(endpoint.id, 'an-event');
  const request = signedRequest(endpoint, message, { id, at: new Date() });
  for (const secret of [other, webhookSecret]) {
    const verified = new Webhook(secret).verify(String(request.body), request.headers ?? {});
    t.deepEqual(verified, { ...message });
  }
  const wrong = `whsec_${Buffer.alloc(24, 8).toString('base64')}`;
  t.throws(() => new Webhook(wrong).verify(String(request.body), request.headers ?? {}));
  t.throws(() => new Webhook(other).verify(`${String(request.body)} `, request.headers ?? {}));
  t.regex(id, /^msg_[0-9a-f]{32}$/);
});

test('The id of a message depends on endpoint and event alone', (t) => {
  t.is(webhookId('one', 'event'), webhookId('one', 'event'));
  t.is(new Set([webhookId('one', 'event'), webhookId('two', 'event'), webhookId('one', 'other')]).size, 3);
});

test('The schemas of messages are strict', (t) => {
  const [history = []] = histories();
  const { type, data } = messageAfter(history);
  t.true(webhookMessages[type].data instanceof z.ZodObject);
  t.false(webhookMessages[type].data.safeParse({ ...data, nickname: 'Ada' }).success);
});
