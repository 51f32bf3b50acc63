import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import { makeOutbox } from '../../../src/event-sourcing/effects/outbox.js';
import { type Lease, makeSoleLease } from '../../../src/event-sourcing/feeding/consumers/lease.js';
import { makeOutgoingHttp, type OutgoingHttp } from '../../../src/outgoing/outgoing-http.js';
import { makeDeliveryRecords } from '../../../src/webhooks/delivery-records.js';
import { parseEndpoints, type WebhookEndpoint } from '../../../src/webhooks/endpoint.js';
import { makeWebhookAdmin } from '../../../src/webhooks/webhook-admin.js';
import { startWebhooks, type WebhookRunner } from '../../../src/webhooks/webhook-runner.js';
import { everyEvent } from '../examples/every-event.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { makeMemoryEventStore } from '../fakes/memory-event-store.js';
import { makeMemoryStateStore } from '../fakes/memory-state-store.js';
import { settableClock } from '../fakes/settable-clock.js';

export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const dayMs = 24 * 60 * 60 * 1_000;

/** Longer sleeps of the code under test end after this time, so that a test waits for no back-off. */
const sleepMsMax = 10;
/** A busy machine must not make an attempt fail: the clock stands still, so no retry would follow. */
const answerMs = 600_000;
/** For receivers that hang. */
export const shortAnswerMs = 500;

export interface WebhookProcess {
  readonly runner: WebhookRunner;
  /** What the process reported: `<event> <endpoint>`, in order. */
  readonly reports: readonly string[];
}

/** Makes a world of outgoing events on stores in memory: a clock that the test moves, and any number of processes. */
export function givenWebhooks(t: ExecutionContext) {
  const wall = settableClock();
  const advance = (ms: number): void => {
    wall.advance(ms);
  };
  const clock = {
    now: () => wall.now(),
    sleep: (ms: number, signal?: AbortSignal) => wall.sleep(Math.min(ms, sleepMsMax), signal),
  };
  const random = makeSeededRandom(1);
  // The log follower of the store waits for changes, and needs no fast clock.
  const eventStore = makeMemoryEventStore({ clock: wall, random });
  const stateStore = makeMemoryStateStore({ clock });
  const unguarded = makeOutgoingHttp({ isAllowed: () => true });

  return {
    ...{ clock, eventStore, stateStore, advance },
    /** Parses lines of WEBHOOK_URLS: the secret is `webhookSecret`. */
    endpointsAt: (...lines: readonly (readonly [url: string, types: string])[]) =>
      parseEndpoints(lines.map(([url, types]) => `${url} ${webhookSecret} ${types}`).join('\n')),
    /** Starts a process. It ends with the test. */
    start: (
      endpoints: readonly WebhookEndpoint[],
      parts: {
        readonly http?: OutgoingHttp;
        readonly stateStore?: StateStore;
        readonly lease?: Lease;
        readonly timeMs?: number;
      } = {},
    ): WebhookProcess => {
      const reports: string[] = [];
      const report =
        (event: string) =>
        (endpoint: string): void => {
          reports.push(`${event} ${endpoint}`);
        };
      const ownStore = parts.stateStore ?? stateStore;
      const runner = startWebhooks(
        {
          ...{ eventStore, clock, random, sleepUntilRetry: clock.sleep, timeMs: parts.timeMs ?? answerMs },
          outbox: makeOutbox({ stateStore: ownStore, clock, onRetry: report('retry') }),
          records: makeDeliveryRecords(ownStore),
          http: parts.http ?? unguarded,
          lease: parts.lease ?? makeSoleLease(randomUUID()),
        },
        endpoints,
        {
          onRetry: report('retry'),
          onOutcome: (endpoint, outcome) => {
            report(outcome)(endpoint);
          },
          onGivenUp: report('given up'),
          onOtherLog: report('other log'),
          onStopped: report('stopped'),
          onGone: report('gone'),
          onDropped: report('dropped'),
        },
      );
      t.teardown(() => runner.stop());
      return { runner, reports };
    },
    admin: (endpoints: readonly WebhookEndpoint[]) =>
      makeWebhookAdmin({ endpoints, records: makeDeliveryRecords(stateStore), eventStore, clock }),
    records: makeDeliveryRecords(stateStore),
    /** Appends events to an order; the first one of an order places it. */
    appendToOrder: async (id: string, ...types: readonly (keyof typeof everyEvent.order)[]) => {
      const stream = `order-${id}`;
      const { length } = await eventStore.read(stream);
      await eventStore.append(
        stream,
        length === 0 ? 'no-stream' : BigInt(length - 1),
        types.map((type) => storableEvent(type, everyEvent.order[type], clock.now())),
      );
    },
  };
}

/** Makes an event that a test appends without a command. */
export function storableEvent(type: string, data: JsonObject, at: Date) {
  const id = randomUUID();
  const metadata = {
    command_id: id,
    causation_id: id,
    correlation_id: id,
    actor: 'operator',
    time: at.toISOString(),
  };
  return { id, type, data, metadata };
}
