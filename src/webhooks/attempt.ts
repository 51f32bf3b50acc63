import type { Clock } from '../kit/time/clock.js';
import { inTraceOf } from '../kit/trace.js';
import type { StoredEvent } from '../event-sourcing/ports/domain-event.js';
import type { EventStore } from '../event-sourcing/ports/event-store.js';
import {
  OutgoingError,
  type OutgoingHttp,
  type OutgoingReply,
  type OutgoingRequest,
} from '../outgoing/outgoing-http.js';
import type { WebhookEndpoint } from './endpoint.js';
import { makeMessageOf } from './messages/fold-messages.js';
import { createHash, createHmac } from 'node:crypto';
import type { WebhookMessage } from './messages/make-message.js';
import { retryWaitMax } from './waiting.js';

/**
 * Returns the id of a message, the same at each attempt and in each process: a digest of endpoint and event. Receivers
 * drop a message whose id they have processed.
 */
export function webhookId(endpointId: string, eventId: string): string {
  const digest = createHash('sha256').update(`${endpointId}/${eventId}`).digest('hex');
  return `msg_${digest.slice(0, 32)}`;
}

/**
 * Signs a message as Standard Webhooks 1.0, `v1`: HMAC-SHA256 over `<id>.<timestamp>.<body>`, one signature for each key.
 * @param at the time of the attempt, which the receiver compares with its clock
 */
export function signedRequest(
  { url, keys }: Pick<WebhookEndpoint, 'url' | 'keys'>,
  message: WebhookMessage,
  { id, at }: { readonly id: string; readonly at: Date },
): OutgoingRequest {
  const body = Buffer.from(JSON.stringify(message));
  const time = String(Math.floor(at.getTime() / 1_000));
  const content = Buffer.concat([Buffer.from(`${id}.${time}.`), body]);
  const signatures = keys.map((key) => `v1,${createHmac('sha256', key).update(content).digest('base64')}`);
  return {
    method: 'POST',
    url,
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Stowage-Webhooks',
      'webhook-id': id,
      'webhook-timestamp': time,
      'webhook-signature': signatures.join(' '),
    },
    body,
  };
}

/** The outcome of an attempt. `gone`: the receiver wants no more messages. `reason` holds no text of the receiver. */
export type AttemptOutcome =
  | { readonly kind: 'delivered' }
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** How long the receiver asks to wait, in ms; 0 where it asks for nothing. */
      readonly waitMs: number;
    };

/** The receiver answered 410: it wants no more messages. */
export class EndpointGone extends Error {
  override readonly name = 'EndpointGone';
}

/** Sends one event once. @throws StoreUnavailable, UndecodableEvent, StreamDamaged; the signal's reason when it aborts */
export type AttemptDelivery = (event: StoredEvent, signal: AbortSignal) => Promise<AttemptOutcome>;

/** A receiver must answer within this time. */
const answerMs = 15_000;

/** Makes the function that sends events to one endpoint. */
export function makeAttemptDelivery(deps: {
  readonly endpoint: WebhookEndpoint;
  readonly eventStore: EventStore;
  readonly clock: Clock;
  readonly http: OutgoingHttp;
  /** The time limit of an answer; 15 s when left out. */
  readonly timeMs?: number;
}): AttemptDelivery {
  const { endpoint, eventStore, clock, http, timeMs = answerMs } = deps;
  const messageOf = makeMessageOf(eventStore);
  return async (event, signal) => {
    const message = await messageOf(event);
    const request = signedRequest(endpoint, message, {
      id: webhookId(endpoint.id, event.id),
      at: clock.now(),
    });
    try {
      // Only the status counts. A body may never end.
      const reply = await inTraceOf(event.metadata.correlation_id, () =>
        http({ ...request, timeMs, bodyBytesMax: 0 }, signal),
      );
      return outcomeOf(reply, clock.now());
    } catch (error) {
      // The outcome is unknown, and the next start sends the event again.
      signal.throwIfAborted();
      if (error instanceof OutgoingError) return { kind: 'failed', reason: error.failure, waitMs: 0 };
      throw error;
    }
  };
}

/** Redirects are not followed: a receiver that moves must be set. */
function outcomeOf({ status, headers }: OutgoingReply, now: Date): AttemptOutcome {
  if (status >= 200 && status < 300) return { kind: 'delivered' };
  if (status === 410) return { kind: 'gone' };
  return { kind: 'failed', reason: `status ${status}`, waitMs: waitMsOf(headers['retry-after'] ?? '', now) };
}

/** Reads `Retry-After`: seconds or a time (RFC 9110, section 10.2.3). Other texts ask for nothing. */
function waitMsOf(field: string, now: Date): number {
  const text = field.trim();
  const ms = /^\d{1,9}$/.test(text) ? Number(text) * 1_000 : Date.parse(text) - now.getTime();
  return Number.isNaN(ms) ? 0 : Math.min(retryWaitMax, Math.max(0, ms));
}
