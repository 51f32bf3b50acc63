import { fingerprintOf } from '../event-sourcing/feeding/checkpoints.js';
import { followLog } from '../event-sourcing/feeding/follow-log.js';
import type { Clock, Random } from '../kit/time/clock.js';
import type { Position, StoredEvent } from '../event-sourcing/ports/domain-event.js';
import { endsProcess, reasonOf, StoreUnavailable } from '../event-sourcing/ports/errors.js';
import type { EventStore, LogPage } from '../event-sourcing/ports/event-store.js';
import type { Lane, LaneFigures, Outbox } from '../event-sourcing/effects/outbox.js';
import type { OutgoingHttp } from '../outgoing/outgoing-http.js';
import { makeBeginPosition, newEndpointRecord } from './begin-position.js';
import { type AttemptOutcome, EndpointGone, makeAttemptDelivery } from './attempt.js';
import { makeDeliverWaiting } from './deliver-waiting.js';
import {
  type DeliveryRecords,
  type EndpointRecord,
  type GivenUp,
  laneOf,
  waitingKey,
} from './delivery-records.js';
import type { WebhookEndpoint } from './endpoint.js';
import { isSelected } from './messages/make-message.js';
import { retryWaitMax, withEvent } from './waiting.js';

export interface WebhookDeps {
  readonly outbox: Outbox;
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

/** 50 messages a second: an attempt sends one. */
const bounds: Pick<Lane, 'atOnce' | 'spacingMs' | 'longestMs' | 'graceMs'> = {
  ...{ atOnce: { written: 8, found: 4 }, spacingMs: 20, longestMs: retryWaitMax, graceMs: 0 },
};
const saveMs = 1_000;
/** An endpoint moves to the end of another log when the log is still another one after this time. */
const doubtMs = 60_000;
/** The record shows at least this often that a process feeds the endpoint. */
const seenMs = 60_000;

/** Up to where every event of the endpoint is delivered, given up or in the record of its stream. */
interface Passed {
  readonly position: Position | null;
  /** Null while the checkpoint has not moved. */
  readonly last: StoredEvent | null;
}

type Seen = Partial<Pick<EndpointRecord, 'last_success_at' | 'last_failure_at' | 'last_failure'>>;

/**
 * Sends the events of the log to one endpoint: src/webhooks/README.md#delivery. The feed writes what waits, and the outbox
 * sends it. Two processes that feed one endpoint at once send some events twice, and lose none.
 */
export function feedEndpoint(
  deps: WebhookDeps,
  endpoint: WebhookEndpoint,
  options: { readonly signal: AbortSignal; readonly events: WebhookEvents },
) {
  const { outbox, eventStore, records, clock } = deps;
  const { events } = options;
  const { id } = endpoint;
  const ending = new AbortController();
  const { signal } = ending;
  const deliver = makeDeliverWaiting({
    ...{ ...deps, endpoint, attempt: makeAttemptDelivery({ ...deps, endpoint }), onOutcome: noteOutcome },
    onGivenUp: (entry) => events.onGivenUp(id, entry),
  });
  const name = laneOf(id);
  let figures: LaneFigures = { records: 0, pending: 0, oldestAt: null };
  let seen: Seen = {};
  let passed: Passed | null = null;
  let saved: string | null = null;
  let savedAtMs = -Infinity;
  let failure: { readonly error: unknown } | null = null;
  return { figures: currentFigures, done: run() };

  /** Resolves after the signal aborts or the receiver answered 410. @throws StoreDamaged */
  async function run(): Promise<'ended' | 'gone'> {
    options.signal.addEventListener('abort', end, { once: true });
    if (options.signal.aborted) end();
    const close = outbox.open({ name, ...bounds, attempt: attemptRecord });
    await Promise.all([follow(), saveEachSecond()].map((work) => work.catch(fail)));
    options.signal.removeEventListener('abort', end);
    currentFigures();
    await close();
    const isGone = failure?.error instanceof EndpointGone;
    await save(stateAfter(failure, isGone)).catch((error: unknown) => {
      if (!(error instanceof StoreUnavailable)) throw error;
      onRetry(error, 0);
    });
    if (failure !== null && !isGone) throw failure.error;
    return isGone ? 'gone' : 'ended';
  }

  /** Returns what waits. After the end it stays what the last look found. */
  function currentFigures(): LaneFigures {
    return (figures = outbox.figures(name) ?? figures);
  }

  function fail(error: unknown): void {
    failure ??= { error };
    end();
  }

  function end(): void {
    ending.abort();
  }

  function onRetry(error: Error, failures: number): void {
    events.onRetry(id, error, failures);
  }

  async function attemptRecord(key: string, cut: AbortSignal): Promise<Date | null> {
    if (isEnding()) return null;
    try {
      return await deliver(key.slice(waitingKey(id, '').length), cut);
    } catch (error) {
      if (cut.aborted) return null;
      // The outbox reports it, and tries again.
      if (error instanceof StoreUnavailable) throw error;
      fail(error);
      return null;
    }
  }

  function noteOutcome(outcome: AttemptOutcome): void {
    events.onOutcome(id, outcome.kind);
    const now = clock.now().toISOString();
    if (outcome.kind === 'delivered') seen = { ...seen, last_success_at: now };
    else {
      const last_failure = outcome.kind === 'gone' ? 'status 410' : outcome.reason;
      seen = { ...seen, last_failure_at: now, last_failure };
    }
  }

  async function follow(): Promise<void> {
    const begin = makeBeginPosition(deps, id);
    await followLog(deps, {
      signal,
      onRetry,
      begin: async (_, progressed) => {
        const position = await begin.load();
        passed ??= { position, last: null };
        return { after: passed.position, take: (page) => takePage(page).then(progressed) };
      },
      waitMsAfter: recover,
    });

    /** @throws StoreUnavailable and the errors that end the endpoint */
    async function recover(error: unknown): Promise<null> {
      if (!endsProcess(error)) throw error;
      // While the log is in doubt, nothing is saved. In this time the views end a process that has a wrong log.
      passed = null;
      await clock.sleep(doubtMs, signal).catch(() => undefined);
      if (isEnding()) return null;
      if (!(await isOtherLog())) throw new StoreUnavailable(reasonOf(error), { cause: error });
      // The log is another one, or an older one. A message that was sent cannot be taken back.
      passed = { position: await begin.moveToEnd(), last: null };
      events.onOtherLog(id, reasonOf(error));
      return null;
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
  }

  async function takePage({ events: taken, cursor }: LogPage): Promise<void> {
    for (const event of taken) {
      if (isEnding()) return;
      if (isSelected(endpoint, event)) await wait(event);
      passed = { position: event.position, last: event };
    }
    if (cursor !== null) passed = { last: passed?.last ?? null, position: cursor };
  }

  async function wait(event: StoredEvent): Promise<void> {
    const { stream } = event;
    await records.changeWaiting(id, stream, (found) => withEvent(found, event, clock.now()));
    outbox.wake(name, waitingKey(id, stream));
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
    if (passed === null) return;
    const [{ position, last }, noted] = [passed, seen];
    const now = clock.now();
    const key = JSON.stringify([position, noted, state]);
    if (key === saved && clock.steadyMs() - savedAtMs < seenMs) return;
    const logId = await eventStore.logId();
    await records.changeEndpoint(id, (found) => {
      const before = found ?? newEndpointRecord(logId, position, now);
      const isFurther = position !== null && (before.position === null || position > before.position);
      const fingerprint = last === null ? before.fingerprint : fingerprintOf(last);
      const moved = isFurther || before.log_id !== logId ? { log_id: logId, position, fingerprint } : {};
      return { ...before, ...moved, ...noted, ...state, seen_at: now.toISOString() };
    });
    [saved, savedAtMs] = [key, clock.steadyMs()];
  }

  function isEnding(): boolean {
    return signal.aborted;
  }
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
