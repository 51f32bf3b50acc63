import { orderEvents } from '../../areas/payments/domain/order/events.js';
import { orderNumber } from '../../areas/payments/domain/payment.js';
import {
  evolve as evolveOrder,
  type OrderState,
  orderStatus,
  refundedAmount,
} from '../../areas/payments/domain/order/fold.js';
import { shareAccessEvents } from '../../areas/shares/domain/share-access/events.js';
import { shareEvents } from '../../areas/shares/domain/share/events.js';
import { storageEvents } from '../../areas/storages/domain/storage/events.js';
import { evolve as evolveStorage, type StorageState } from '../../areas/storages/domain/storage/fold.js';
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
import { type WebhookData, webhookMessages, type WebhookType } from './message-types.js';

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
  /** Returns the fields of every message about the resource. @param fold of the stream up to the event */
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
  const told = source.events.told(source.events.codec.decode(event));
  // Receivers see the fields of the type, and no other one of the event.
  const data = webhookMessages[type].shown.parse({ ...told, ...source.data(fold, event) }) as JsonObject;
  return { type, timestamp: event.recordedAt.toISOString(), data };
}

function sourceOf(stream: string): Source | null {
  return sources.get(parseStreamName(stream)?.category ?? '') ?? null;
}

function orderData({ state }: MessageFold, last: StoredEvent): WebhookData<'order.expired'> {
  if (state?.status !== 'placed') throw headless(last);
  const id = streamIdOf(last);
  const { user_id, project_id, plan_id, provider, amount, currency } = state;
  return {
    ...{ order_id: id, order_number: orderNumber(id), user_id, project_id, plan_id, provider },
    ...{ amount, currency, status: orderStatus(state), refunded_amount: refundedAmount(state) },
  };
}

function shareData({ first: head }: MessageFold, last: StoredEvent): WebhookData<'share.revoked'> {
  const { data } = shareEvents.codec.decode(head);
  if (!('project_id' in data)) throw headless(last);
  return { share_id: streamIdOf(last), project_id: data.project_id };
}

function accessData({ first: head }: MessageFold, last: StoredEvent): WebhookData<'share.opened'> {
  const first = shareAccessEvents.codec.decode(head);
  if (first.type !== 'ShareVerified') throw headless(last);
  const { share_id, project_id } = first.data;
  return { share_id, project_id };
}

function storageData({ first: head, state }: MessageFold, last: StoredEvent): WebhookData<'storage.changed'> {
  const { data } = storageEvents.codec.decode(head);
  if (state === null || state.status === 'absent' || state.status === 'placed') throw headless(last);
  if (!('provider' in data)) throw headless(last);
  const { projectId: project_id, status } = state;
  return { storage_id: streamIdOf(last), project_id, provider: data.provider, status };
}

function headless({ stream, revision }: StoredEvent): StreamDamaged {
  return new StreamDamaged(stream, `the stream ${stream} does not begin as its event ${revision} needs`);
}
