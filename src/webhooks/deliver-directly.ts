import type { KeyedMutex } from '../kit/keyed-mutex.js';
import { backoff, type Clock, type Random } from '../kit/time/clock.js';
import type { StoredEvent } from '../event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../event-sourcing/ports/errors.js';
import type { AttemptDelivery, AttemptOutcome } from './attempt.js';
import type { DeliveryRecords } from './delivery-records.js';
import type { Slots } from './slots.js';
import { withEvent } from './waiting.js';

/** The receiver answered 410: it wants no more messages. */
export class EndpointGone extends Error {
  override readonly name = 'EndpointGone';
}

/** What the deliveries of one endpoint share. */
export interface DeliveryDeps {
  readonly endpointId: string;
  readonly records: DeliveryRecords;
  /** Sends an event once, and notes the outcome. @throws EndpointGone */
  readonly attempt: (event: StoredEvent) => Promise<Exclude<AttemptOutcome, { kind: 'gone' }>>;
  /** Keeps the deliveries of one stream apart, in call order. */
  readonly mutex: KeyedMutex;
  readonly clock: Clock;
  readonly random: Random;
  readonly sleepUntilRetry: Clock['sleep'];
  readonly signal: AbortSignal;
  readonly onRetry: (error: Error, failures: number) => void;
}

/** The wait after a failed call of a store. */
export const storeRetry = { first: 250, cap: 10_000 };

/**
 * Makes the function that delivers an event that the mark of the endpoint has not passed. It makes one attempt. After a
 * failure the event waits in the state store, and so do later events of its stream. The mark may then pass them.
 * @returns a function that resolves to false when the process ends before. It is called in the order of the log
 */
export function makeDirectDelivery(
  deps: DeliveryDeps & {
    readonly slots: Slots;
    /** Called after an event began to wait. */
    readonly onWaiting: () => void;
  },
): (event: StoredEvent) => Promise<boolean> {
  const { endpointId, records, mutex, clock, random, signal, slots } = deps;
  return (event) => mutex(event.stream, () => deliver(event));

  async function deliver(event: StoredEvent): Promise<boolean> {
    let outcome: Awaited<ReturnType<AttemptDelivery>> | null = null;
    for (let failures = 0; !isEnding(); failures += 1) {
      try {
        if (outcome === null && (await records.waiting(endpointId, event.stream)) === null) {
          outcome = await attemptInSlot(event);
        }
        if (outcome?.kind !== 'delivered') await wait(event, outcome);
        return true;
      } catch (error) {
        if (isEnding()) return false;
        if (!(error instanceof StoreUnavailable)) throw error;
        deps.onRetry(error, failures);
        // An abort ends the loop.
        await deps.sleepUntilRetry(backoff(failures, random, storeRetry), signal).catch(() => undefined);
      }
    }
    return false;
  }

  function isEnding(): boolean {
    return signal.aborted;
  }

  /** Returns null when too many deliveries wait, and the retries take the event. */
  async function attemptInSlot(
    event: StoredEvent,
  ): Promise<Awaited<ReturnType<DeliveryDeps['attempt']>> | null> {
    const release = await slots.acquire();
    if (release === null) return null;
    try {
      signal.throwIfAborted();
      return await deps.attempt(event);
    } finally {
      release();
    }
  }

  async function wait(
    event: StoredEvent,
    failed: Extract<AttemptOutcome, { kind: 'failed' }> | null,
  ): Promise<void> {
    const at = { revision: Number(event.revision), failed };
    await records.changeWaiting(endpointId, event.stream, (found) =>
      withEvent(found, at, { now: clock.now(), random }),
    );
    deps.onWaiting();
  }
}
