import Bottleneck from 'bottleneck';
import type { Clock } from '../kit/time/clock.js';
import { inTraceOf } from '../kit/trace.js';
import type { StoredEvent } from '../event-sourcing/ports/domain-event.js';
import type { EventStore } from '../event-sourcing/ports/event-store.js';
import { OutgoingError, type OutgoingHttp, type OutgoingReply } from '../outgoing/outgoing-http.js';
import type { WebhookEndpoint } from './endpoint.js';
import { makeMessageOf } from './messages/fold-messages.js';
import { signedRequest, webhookId } from './signed-request.js';

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

/** Sends one event once. @throws StoreUnavailable, UndecodableEvent, StoreDamaged; the signal's reason when it aborts */
export type AttemptDelivery = (event: StoredEvent) => Promise<AttemptOutcome>;

/** A receiver must answer within this time. */
export const answerMs = 15_000;
/** Attempts of one endpoint in a second, at most. */
const perSecond = 50;
/** Attempts of one endpoint at once: new events, and retries. */
export const atOnce = { direct: 8, retries: 4 } as const;
/** The longest wait that a receiver may ask for. */
const waitMsMax = 3_600_000;

/** Makes the function that sends events to one endpoint, at a bounded rate. */
export function makeAttemptDelivery(deps: {
  readonly endpoint: WebhookEndpoint;
  readonly eventStore: EventStore;
  readonly clock: Clock;
  readonly http: OutgoingHttp;
  readonly signal: AbortSignal;
  /** The time limit of an answer; 15 s when left out. */
  readonly timeMs?: number;
}): AttemptDelivery {
  const { endpoint, eventStore, clock, http, signal, timeMs = answerMs } = deps;
  const messageOf = makeMessageOf(eventStore);
  const limiter = new Bottleneck({
    maxConcurrent: atOnce.direct + atOnce.retries,
    minTime: 1_000 / perSecond,
  });

  return async (event) => {
    const message = await messageOf(event);
    const id = webhookId(endpoint.id, event.id);
    return limiter.schedule(async () => {
      signal.throwIfAborted();
      // The client combines its signal with others. Node 20 keeps a part of each combination as long as the signal lives.
      const cut = new AbortController();
      const end = (): void => {
        cut.abort(signal.reason);
      };
      signal.addEventListener('abort', end, { once: true });
      try {
        const request = signedRequest(endpoint, message, { id, at: clock.now() });
        // Only the status counts. A body may never end.
        const reply = await inTraceOf(event.metadata.correlation_id, () =>
          http({ ...request, timeMs, bodyBytesMax: 0 }, cut.signal),
        );
        return outcomeOf(reply, clock.now());
      } catch (error) {
        // The outcome is unknown, and the next start sends the event again.
        signal.throwIfAborted();
        if (error instanceof OutgoingError) return { kind: 'failed', reason: error.failure, waitMs: 0 };
        throw error;
      } finally {
        signal.removeEventListener('abort', end);
      }
    });
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
  return Number.isNaN(ms) ? 0 : Math.min(waitMsMax, Math.max(0, ms));
}
