import { makeSemaphore } from '../kit/semaphore.js';
import { steadyMsOf } from '../kit/time/clock.js';
import type { StoredEvent } from '../event-sourcing/ports/domain-event.js';
import { StoreUnavailable, StreamDamaged } from '../event-sourcing/ports/errors.js';
import type { EventStore } from '../event-sourcing/ports/event-store.js';
import { answerMs, atOnce, type AttemptOutcome } from './attempt.js';
import type { DeliveryDeps } from './deliver-directly.js';
import type { GivenUp } from './delivery-records.js';
import type { WebhookEndpoint } from './endpoint.js';
import { isSelected, messageTypeOf } from './messages/make-message.js';
import { afterRetry, isOver, type RetryResult, type Waiting } from './waiting.js';

/** What waits for an endpoint, as the last look found it. */
export interface WaitingFigures {
  readonly streams: number;
  readonly pending: number;
  readonly oldestAt: Date | null;
}

/** Events of a stream that one turn delivers at most, so that other streams get their turn. */
const turnEvents = 50;
/** Streams that wait for their turn in memory, at most. */
const startedMax = 200;
/** Another process, or an operator's replay, may have added a stream. */
const lookMs = 5_000;
const lookAgainMs = 250;
/** Looks take a fifth of the time at most: with very many waiting streams they are made less often. */
const lookShare = 4;

/** Makes the loop that tries waiting events again, stream by stream, each stream in order. */
export function makeWaitingRetries(
  deps: DeliveryDeps & {
    readonly endpoint: WebhookEndpoint;
    readonly eventStore: EventStore;
    readonly onGivenUp: (entry: GivenUp) => void;
  },
): {
  /** Runs until the signal aborts. @throws StoreDamaged, EndpointGone */
  readonly run: () => Promise<void>;
  /** Looks now: an event began to wait. */
  readonly wake: () => void;
  readonly figures: () => WaitingFigures;
} {
  const { endpoint, endpointId, eventStore, records, mutex, clock, random, signal } = deps;
  const semaphore = makeSemaphore(atOnce.retries);
  const serving = new Map<string, Promise<void>>();
  let figures: WaitingFigures = { streams: 0, pending: 0, oldestAt: null };
  let waking = new AbortController();
  let failure: { readonly error: unknown } | null = null;

  return {
    run: async () => {
      const end = (): void => {
        waking.abort();
      };
      signal.addEventListener('abort', end, { once: true });
      try {
        while (!signal.aborted && failure === null) {
          const startedMs = steadyMsOf(clock);
          const nextMs = await look().catch(retryLater);
          // The times of the messages are those of the wall clock.
          const waitMs = nextMs - clock.now().getTime();
          await rest((steadyMsOf(clock) - startedMs) * lookShare, signal);
          await rest(Math.max(lookAgainMs, waitMs), waking.signal);
          waking = new AbortController();
        }
      } finally {
        signal.removeEventListener('abort', end);
        await Promise.all(serving.values());
      }
      if (failure !== null) throw failure.error;
    },
    wake: () => {
      waking.abort();
    },
    figures: () => figures,
  };

  async function rest(ms: number, until: AbortSignal): Promise<void> {
    // An abort ends the wait.
    if (ms > 0 && !signal.aborted) await clock.sleep(ms, until).catch(() => undefined);
  }

  /** Starts the turns that are due. @returns the time of the next look in ms */
  async function look(): Promise<number> {
    let seen: WaitingFigures = { streams: 0, pending: 0, oldestAt: null };
    let nextMs = clock.now().getTime() + lookMs;
    for await (const { stream, waiting } of records.allWaiting(endpointId)) {
      if (signal.aborted || failure !== null) return 0;
      seen = added(seen, waiting);
      const dueMs = Date.parse(waiting.not_before);
      if (dueMs > clock.now().getTime()) nextMs = Math.min(nextMs, dueMs);
      else if (!serving.has(stream)) {
        if (serving.size >= startedMax) await Promise.race(serving.values());
        start(stream);
      }
    }
    figures = seen;
    return nextMs;
  }

  function start(stream: string): void {
    const work = semaphore
      .run(() => mutex(stream, () => turn(stream)))
      .catch((error: unknown) => {
        if (signal.aborted) return;
        if (error instanceof StoreUnavailable) retryLater(error);
        else {
          failure ??= { error };
          waking.abort();
        }
      })
      .finally(() => serving.delete(stream));
    serving.set(stream, work);
  }

  /**
   * Delivers the first waiting events of a stream, until one fails or the turn takes long. A new event of the stream waits
   * for the end of the turn, and the mark of the endpoint waits for that event.
   */
  async function turn(stream: string): Promise<void> {
    signal.throwIfAborted();
    const waiting = await records.waiting(endpointId, stream);
    if (waiting === null || clock.now().getTime() < Date.parse(waiting.not_before)) return;
    const events = await eventStore
      .read(stream, { from: BigInt(waiting.next), limit: turnEvents })
      .catch(noneOfDamaged);
    const due = events.filter(({ revision }) => revision <= BigInt(waiting.until));
    const last = due.at(-1);
    if (last === undefined) {
      // A log with leaders may be short for a moment, and a restored one for ever. A damaged stream may be repaired.
      await settle(stream, {
        from: waiting.next,
        to: missingUntil(waiting),
        settled: 0,
        failed: { waitMs: 0 },
      });
      return;
    }
    const startedMs = steadyMsOf(clock);
    let from = waiting.next;
    for (const event of due) {
      const to = Number(event.revision) + 1;
      if (!isSelected(endpoint, event)) continue;
      signal.throwIfAborted();
      const outcome = await deps.attempt(event);
      if (outcome.kind === 'failed') {
        await settle(stream, await failed(waiting, due.slice(due.indexOf(event)), from, outcome));
        return;
      }
      await settle(stream, { from, to, settled: 1, failed: null });
      from = to;
      if (steadyMsOf(clock) - startedMs >= answerMs) {
        waking.abort();
        return;
      }
    }
    await settle(stream, { from, to: Number(last.revision) + 1, settled: 0, failed: null });
    // The next turn takes the rest.
    waking.abort();
  }

  /** Other streams go on. @throws the error when it is another one */
  function noneOfDamaged(error: unknown): readonly StoredEvent[] {
    if (error instanceof StreamDamaged) return [];
    throw error;
  }

  /** After three days without the events of a record they are gone for good. */
  function missingUntil(waiting: Waiting): number {
    const now = clock.now();
    return isOver(waiting, { recordedAt: new Date(waiting.since) }, now) ? waiting.until + 1 : waiting.next;
  }

  /** Gives up the failed event and those behind it whose time is over too. */
  async function failed(
    waiting: Waiting,
    events: readonly StoredEvent[],
    from: number,
    { reason, waitMs }: Extract<AttemptOutcome, { kind: 'failed' }>,
  ): Promise<RetryResult> {
    const now = clock.now();
    let to = Number(events[0]?.revision ?? from);
    let settled = 0;
    for (const event of events) {
      if (!isOver(waiting, event, now)) break;
      to = Number(event.revision) + 1;
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
      if (await records.giveUp(endpointId, entry)) deps.onGivenUp(entry);
    }
    return { from, to, settled, failed: { waitMs } };
  }

  async function settle(stream: string, result: RetryResult): Promise<void> {
    await records.changeWaiting(endpointId, stream, (found) =>
      // Another process has delivered all of it.
      found === null ? null : afterRetry(found, result, { now: clock.now(), random }),
    );
  }

  function retryLater(error: unknown): number {
    if (!(error instanceof StoreUnavailable)) throw error;
    deps.onRetry(error, 0);
    return clock.now().getTime() + lookMs;
  }
}

/** An event of a newer release has no message type here. */
function givenUpType(event: StoredEvent): string {
  const type = messageTypeOf(event);
  return type === null || type === 'unknown' ? event.type : type;
}

function added(figures: WaitingFigures, { pending, since }: Waiting): WaitingFigures {
  const at = new Date(since);
  const { oldestAt } = figures;
  return {
    streams: figures.streams + 1,
    pending: figures.pending + pending,
    oldestAt: oldestAt === null || at < oldestAt ? at : oldestAt,
  };
}
