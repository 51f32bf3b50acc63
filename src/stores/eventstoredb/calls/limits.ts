import { logPageBytesMax, maxAppendBytes, maxEventBytes } from '../../../event-sourcing/ports/event-store.js';
import type { NewEvent } from '../../../event-sourcing/ports/domain-event.js';
import { EventTooLarge } from '../../../event-sourcing/ports/errors.js';
import { eventBytes } from '../../../event-sourcing/feeding/read-log.js';

/** The error of a call that was abandoned before its answer. */
export class CallAbandoned extends Error {
  override readonly name: string = 'CallAbandoned';
}

/** No answer came within the time limit. */
export class CallTimedOut extends CallAbandoned {
  override readonly name = 'CallTimedOut';
}

/**
 * Runs one outside call. When the limit passes or the caller cancels, the signal aborts and the promise rejects, even
 * when `run` continues. Real timers, not the injected clock, bound the time of the network. @throws CallAbandoned
 */
export function withinLimit<T>(
  limit: { readonly ms: number; readonly signal?: AbortSignal | undefined },
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return new Promise((resolve, reject) => {
    const controller = new AbortController();
    const giveUp = (reason: CallAbandoned): void => {
      finish();
      reject(reason);
      controller.abort(reason);
    };
    const onAbort = (): void => giveUp(new CallAbandoned('the caller cancelled the call'));
    const timer = setTimeout(() => giveUp(new CallTimedOut(`no answer within ${limit.ms} ms`)), limit.ms);
    const finish = (): void => {
      clearTimeout(timer);
      limit.signal?.removeEventListener('abort', onAbort);
    };
    if (limit.signal?.aborted === true) {
      onAbort();
      return;
    }
    limit.signal?.addEventListener('abort', onAbort, { once: true });
    run(controller.signal).finally(finish).then(resolve, reject);
  });
}

/** Refuses events that are too large before anything is sent. @throws EventTooLarge */
export function checkSizes(stream: string, events: readonly NewEvent[]): void {
  let total = 0;
  for (const { type, data, metadata } of events) {
    const bytes = eventBytes({ data, metadata });
    if (bytes > maxEventBytes) {
      throw new EventTooLarge(
        `an event ${type} for stream ${stream} takes ${bytes} bytes; ${maxEventBytes} are allowed`,
      );
    }
    total += bytes;
  }
  if (total > maxAppendBytes) {
    throw new EventTooLarge(
      `an append to stream ${stream} takes ${total} bytes; ${maxAppendBytes} are allowed`,
    );
  }
}

export interface EventStoreDbLimits {
  /** The time limit of one attempt of any call, in milliseconds. */
  readonly callMs: number;
  /** The limit of stream reads under way at once. A server accepts 100 calls on a connection. */
  readonly readsMax: number;
  /** The limit of appends under way at once. They share one call. */
  readonly appendsMax: number;
  /** The longest wait for a permit among them, in milliseconds. */
  readonly permitMs: number;
  /** A read ends after the record with which it reaches this size, in bytes. */
  readonly pageBytes: number;
  /** A subscription counts as lost when it is silent for this long after the log has grown. */
  readonly silenceMs: number;
  /** The interval between polls of the end of the log, in milliseconds. */
  readonly pollMs: number;
  /** The time that the store waits for a log that ends before a position it has read, in milliseconds. */
  readonly shortLogMs: number;
}

/** The limits of src/stores/eventstoredb/README.md#calls (5 s for each attempt) and src/event-sourcing/feeding/README.md#subscriptions (1 s poll). */
export const eventStoreDbLimits: EventStoreDbLimits = {
  callMs: 5_000,
  readsMax: 80,
  appendsMax: 256,
  permitMs: 2_000,
  pageBytes: logPageBytesMax,
  silenceMs: 30_000,
  pollMs: 1_000,
  shortLogMs: 10_000,
};
