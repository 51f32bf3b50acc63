import type { Clock, Random } from '../kit/time/clock.js';
import type { StoredEvent } from '../event-sourcing/ports/domain-event.js';
import { StreamDamaged, UndecodableEvent } from '../event-sourcing/ports/errors.js';
import { untilDueMs } from '../event-sourcing/effects/outbox.js';
import type { EventStore } from '../event-sourcing/ports/event-store.js';
import { type AttemptDelivery, type AttemptOutcome, EndpointGone } from './attempt.js';
import type { DeliveryRecords, GivenUp } from './delivery-records.js';
import type { WebhookEndpoint } from './endpoint.js';
import { isSelected, messageTypeOf } from './messages/make-message.js';
import { afterAttempt, type AttemptResult, isOver, retryWaitMax, type Waiting } from './waiting.js';

/** Events of a stream that one attempt looks at, at most. It sends one of them. */
const pageEvents = 50;

/**
 * Makes the function that sends the first waiting message of a stream, if it is due.
 * @returns when the next message of the stream is due; null: none waits @throws StoreUnavailable, EndpointGone
 */
export function makeDeliverWaiting(deps: {
  readonly endpoint: WebhookEndpoint;
  readonly records: DeliveryRecords;
  readonly eventStore: EventStore;
  readonly attempt: AttemptDelivery;
  readonly clock: Clock;
  readonly random: Random;
  readonly onOutcome: (outcome: AttemptOutcome) => void;
  readonly onGivenUp: (entry: GivenUp) => void;
}): (stream: string, signal: AbortSignal) => Promise<Date | null> {
  const { endpoint, records, eventStore, attempt, clock, random, onOutcome } = deps;
  return async (stream, signal) => {
    const waiting = await records.waiting(endpoint.id, stream);
    if (waiting === null) return null;
    if (untilDueMs(waiting, { longestMs: retryWaitMax }, clock.now()) > 0)
      return new Date(waiting.not_before);
    const limit = Math.min(pageEvents, waiting.until - waiting.next + 1);
    const events = await eventStore
      .read(stream, { from: BigInt(waiting.next), limit })
      .catch((error: unknown) => {
        if (!(error instanceof StreamDamaged)) throw error;
        onOutcome(unreadableOf(error));
        return [];
      });
    const result = await send(waiting, events, signal);
    const after = await records.changeWaiting(endpoint.id, stream, (found) =>
      // Another process has delivered all of it.
      found === null ? null : afterAttempt(found, result, { now: clock.now(), random }),
    );
    return after === null ? null : new Date(after.not_before);
  };

  async function send(
    waiting: Waiting,
    events: readonly StoredEvent[],
    signal: AbortSignal,
  ): Promise<AttemptResult> {
    const from = waiting.next;
    const last = events.at(-1);
    // A log with leaders may be short for a moment, and a restored one for ever. A damaged stream may be repaired.
    if (last === undefined) return { from, to: missingUntil(waiting), settled: 0, failed: { waitMs: 0 } };
    const event = events.find((one) => isSelected(endpoint, one));
    if (event === undefined) return { from, to: after(last), settled: 0, failed: null };
    const outcome = await attempt(event, signal).catch(unreadableOf);
    onOutcome(outcome);
    if (outcome.kind === 'gone') throw new EndpointGone('the receiver answered 410 Gone');
    if (outcome.kind === 'delivered') return { from, to: after(event), settled: 1, failed: null };
    return giveUpOld(waiting, events.slice(events.indexOf(event)), outcome);
  }

  /** After three days without the events of a record they are gone for good. */
  function missingUntil(waiting: Waiting): number {
    const now = clock.now();
    return isOver(waiting, { recordedAt: new Date(waiting.since) }, now) ? waiting.until + 1 : waiting.next;
  }

  /** Gives up the failed event and those behind it whose time is over too. */
  async function giveUpOld(
    waiting: Waiting,
    events: readonly StoredEvent[],
    { reason, waitMs }: Extract<AttemptOutcome, { kind: 'failed' }>,
  ): Promise<AttemptResult> {
    const now = clock.now();
    let to = Number(events[0]?.revision ?? waiting.next);
    let settled = 0;
    for (const event of events) {
      if (!isOver(waiting, event, now)) break;
      to = after(event);
      if (!isSelected(endpoint, event)) continue;
      settled += 1;
      const entry: GivenUp = {
        stream: event.stream,
        revision: Number(event.revision),
        event_id: event.id,
        type: givenUpType(event),
        recorded_at: event.recordedAt.toISOString(),
        given_up_at: now.toISOString(),
        reason,
      };
      if (await records.giveUp(endpoint.id, entry, waiting.since)) deps.onGivenUp(entry);
    }
    return { from: waiting.next, to, settled, failed: { waitMs } };
  }
}

function after({ revision }: StoredEvent): number {
  return Number(revision) + 1;
}

/**
 * Only the resource waits whose stream is damaged or has an event that this release cannot read.
 * @throws the error when it is another one
 */
function unreadableOf(error: unknown): AttemptOutcome {
  if (error instanceof StreamDamaged) return { kind: 'failed', reason: 'stream_damaged', waitMs: 0 };
  if (error instanceof UndecodableEvent) return { kind: 'failed', reason: 'event_unreadable', waitMs: 0 };
  throw error;
}

/** An event of a newer release has no message type here. */
function givenUpType(event: StoredEvent): string {
  const type = messageTypeOf(event);
  return type === null || type === 'unknown' ? event.type : type;
}
