import { setMaxListeners } from 'node:events';
import { fingerprintOf } from '../event-sourcing/feeding/checkpoints.js';
import { backoff, type Clock, type Random } from '../kit/time/clock.js';
import type { LogEvent, StoredEvent } from '../event-sourcing/ports/domain-event.js';
import {
  endsProcess,
  reasonOf,
  StoreUnavailable,
  StreamDamaged,
  UndecodableEvent,
} from '../event-sourcing/ports/errors.js';
import type { EventStore, LogPage } from '../event-sourcing/ports/event-store.js';
import { type LowWaterMark, makeLowWaterMark } from '../event-sourcing/effects/reaction-mark.js';
import { makeKeyedMutex } from '../kit/keyed-mutex.js';
import type { OutgoingHttp } from '../outgoing/outgoing-http.js';
import { makeBeginPosition, newEndpointRecord } from './begin-position.js';
import { type AttemptOutcome, atOnce, makeAttemptDelivery } from './attempt.js';
import { type DeliveryDeps, EndpointGone, makeDirectDelivery, storeRetry } from './deliver-directly.js';
import type { DeliveryRecords, EndpointRecord, GivenUp } from './delivery-records.js';
import type { WebhookEndpoint } from './endpoint.js';
import { isSelected } from './messages/make-message.js';
import { makeWaitingRetries, type WaitingFigures } from './retry-waiting.js';
import { makeSlots } from './slots.js';

export interface WebhookDeps {
  readonly eventStore: EventStore;
  readonly records: DeliveryRecords;
  readonly clock: Clock;
  readonly random: Random;
  /** The sleep before a retry of a store, which may end early. */
  readonly sleepUntilRetry: Clock['sleep'];
  readonly http: OutgoingHttp;
  /** The time limit of an answer; 15 s when left out. */
  readonly timeMs?: number;
}

export interface WebhookEvents {
  readonly onRetry: (endpointId: string, error: Error, failures: number) => void;
  readonly onOutcome: (endpointId: string, outcome: AttemptOutcome['kind']) => void;
  readonly onGivenUp: (endpointId: string, entry: GivenUp) => void;
  /** The log is another one than the endpoint followed. It goes on at the end of this one. */
  readonly onOtherLog: (endpointId: string, problem: string) => void;
}

/** The feeding of one endpoint by this process. */
export interface EndpointFeed {
  readonly figures: () => WaitingFigures;
  /** Resolves after the signal aborts or the receiver answered 410. @throws StoreDamaged */
  readonly done: Promise<'ended' | 'gone'>;
}

/** Events that the feed takes after its mark, at most. */
const aheadMax = 256;
/** Events that wait for a slot, at most. */
const queueMax = 32;
const saveMs = 1_000;
/** An endpoint moves to the end of another log when the log is still another one after this time. */
const doubtMs = 60_000;
/** The record shows at least this often that a process feeds the endpoint. */
const seenMs = 60_000;

type Seen = Partial<Pick<EndpointRecord, 'last_success_at' | 'last_failure_at' | 'last_failure'>>;

/**
 * Sends the events of the log to one endpoint: src/webhooks/README.md#delivery. Two processes that feed one endpoint at
 * once send some events twice, and lose none: the mark passes an event that is delivered or waits in a record.
 */
export function feedEndpoint(
  deps: WebhookDeps,
  endpoint: WebhookEndpoint,
  options: { readonly signal: AbortSignal; readonly events: WebhookEvents },
): EndpointFeed {
  const { eventStore, records, clock, random, sleepUntilRetry } = deps;
  const { events } = options;
  const { id } = endpoint;
  const ending = new AbortController();
  const { signal } = ending;
  // Each attempt at once has a listener, and so have the sleeps.
  setMaxListeners(0, signal);
  const attempt = makeAttemptDelivery({ ...deps, endpoint, signal });
  const onRetry = (error: Error, failures: number): void => {
    events.onRetry(id, error, failures);
  };
  const shared: DeliveryDeps = {
    ...{ endpointId: id, records, clock, random, sleepUntilRetry, signal, onRetry },
    attempt: attemptOnce,
    mutex: makeKeyedMutex({ waitingMax: 4 * aheadMax }),
  };
  const retries = makeWaitingRetries({
    ...{ ...shared, endpoint, eventStore },
    onGivenUp: (entry) => {
      events.onGivenUp(id, entry);
    },
  });
  const slots = makeSlots(atOnce.direct, queueMax);
  const deliver = makeDirectDelivery({ ...shared, slots, onWaiting: retries.wake });
  const running = new Set<Promise<void>>();
  let seen: Seen = {};
  let mark: LowWaterMark | null = null;
  let saved: string | null = null;
  let savedAtMs = 0;
  let failure: { readonly error: unknown } | null = null;
  let makeRoom = (): void => undefined;

  return { figures: retries.figures, done: run() };

  async function run(): Promise<'ended' | 'gone'> {
    options.signal.addEventListener('abort', end, { once: true });
    if (options.signal.aborted) end();
    await Promise.all([follow(), retries.run(), saveEachSecond()].map((work) => work.catch(fail)));
    options.signal.removeEventListener('abort', end);
    await Promise.all(running);
    const isGone = failure?.error instanceof EndpointGone;
    await save(stateAfter(failure, isGone)).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
      onRetry(error, 0);
    });
    if (failure !== null && !isGone) throw failure.error;
    return isGone ? 'gone' : 'ended';
  }

  function fail(error: unknown): void {
    failure ??= { error };
    end();
  }

  function end(): void {
    ending.abort();
    slots.shed();
    makeRoom();
  }

  async function attemptOnce(event: StoredEvent): Promise<Exclude<AttemptOutcome, { kind: 'gone' }>> {
    const outcome = await attempt(event).catch(unreadableOf);
    events.onOutcome(id, outcome.kind);
    const now = clock.now().toISOString();
    if (outcome.kind === 'delivered') seen = { ...seen, last_success_at: now };
    else {
      const last_failure = outcome.kind === 'gone' ? 'status 410' : outcome.reason;
      seen = { ...seen, last_failure_at: now, last_failure };
    }
    if (outcome.kind === 'gone') throw new EndpointGone('the receiver answered 410 Gone');
    return outcome;
  }

  async function follow(): Promise<void> {
    const begin = makeBeginPosition(deps, id);
    for (let attempts = 0; !signal.aborted; attempts += 1) {
      try {
        const position = await begin.load();
        mark ??= makeLowWaterMark(position);
        for await (const page of eventStore.subscribe({ after: mark.taken(), signal })) {
          await takePage(mark, page);
          attempts = 0;
        }
      } catch (error) {
        await recover(error).catch((failed: unknown) => {
          retryLater(failed, attempts);
        });
      }
      // Also after a subscription that ended without an error. An abort ends the loop.
      await sleepUntilRetry(backoff(attempts, random, storeRetry), signal).catch(() => undefined);
    }

    /** @throws StoreUnavailable and the errors that end the endpoint */
    async function recover(error: unknown): Promise<void> {
      if (!endsProcess(error)) throw error;
      // While the log is in doubt, nothing is saved. In this time the views end a process that has a wrong log.
      mark = null;
      await clock.sleep(doubtMs, signal).catch(() => undefined);
      if (isEnding()) return;
      if (!(await isOtherLog())) throw new StoreUnavailable(reasonOf(error), { cause: error });
      // The log is another one, or an older one. A message that was sent cannot be taken back.
      mark = makeLowWaterMark(await begin.moveToEnd());
      events.onOtherLog(id, reasonOf(error));
    }

    async function isOtherLog(): Promise<boolean> {
      try {
        await eventStore.readAll({ after: await begin.load(), limit: 1 });
        return false;
      } catch (error) {
        if (!endsProcess(error)) throw error;
        return true;
      }
    }

    function retryLater(error: unknown, attempts: number): void {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (!isEnding()) onRetry(error, attempts);
    }
  }

  async function takePage(to: LowWaterMark, page: LogPage): Promise<void> {
    for (const event of page.events) {
      const passed = { position: event.position, lastEvent: event };
      if (!isSelected(endpoint, event)) {
        to.pass(passed);
        continue;
      }
      while (to.ahead() >= aheadMax && !isEnding()) {
        // Hanging deliveries must not hold up those behind them.
        slots.shed();
        await new Promise<void>((resolve) => {
          makeRoom = resolve;
        });
      }
      if (isEnding()) return;
      to.take(passed, event);
      startDelivery(to, event);
    }
    if (page.cursor !== null) to.pass({ position: page.cursor });
  }

  function startDelivery(to: LowWaterMark, event: LogEvent): void {
    const work: Promise<void> = deliver(event)
      .then((isSettled) => {
        if (isSettled) to.settle(event);
        makeRoom();
      })
      .catch(fail)
      .finally(() => running.delete(work));
    running.add(work);
  }

  async function saveEachSecond(): Promise<void> {
    while (!signal.aborted) {
      // An abort ends the loop, and the last state is saved after it.
      await clock.sleep(saveMs, signal).catch(() => undefined);
      if (isEnding()) return;
      try {
        await save({ state: 'delivering', problem: null });
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        onRetry(error, 0);
      }
    }
  }

  /** Saves what has changed. Of two processes the one that is further decides the position. */
  async function save(state: Pick<EndpointRecord, 'state' | 'problem'>): Promise<void> {
    if (mark === null) return;
    const [position, last, noted] = [mark.position(), mark.lastEvent(), seen];
    const now = clock.now();
    const key = JSON.stringify([position, noted, state]);
    if (key === saved && now.getTime() - savedAtMs < seenMs) return;
    const logId = await eventStore.logId();
    await records.changeEndpoint(id, (found) => {
      const before = found ?? newEndpointRecord(logId, position, now);
      const isFurther = position !== null && (before.position === null || position > before.position);
      const fingerprint = last === null ? before.fingerprint : fingerprintOf(last);
      const moved = isFurther || before.log_id !== logId ? { log_id: logId, position, fingerprint } : {};
      return { ...before, ...moved, ...noted, ...state, seen_at: now.toISOString() };
    });
    [saved, savedAtMs] = [key, now.getTime()];
  }

  function isEnding(): boolean {
    return signal.aborted;
  }
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

function stateAfter(
  failed: { readonly error: unknown } | null,
  isGone: boolean,
): Pick<EndpointRecord, 'state' | 'problem'> {
  if (failed === null) return { state: 'delivering', problem: null };
  if (isGone)
    return { state: 'gone', problem: 'the receiver answered 410; restart the service to try again' };
  return { state: 'stopped', problem: reasonOf(failed.error) };
}
