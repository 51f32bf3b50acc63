import { randomUUID } from 'node:crypto';
import type { ExecutionContext } from 'ava';
import type { JsonObject } from '../../../src/event-sourcing/ports/domain-event.js';
import type { StateStore } from '../../../src/event-sourcing/ports/state-store.js';
import type { Clock } from '../../../src/kit/time/clock.js';
import { makeOutbox } from '../../../src/event-sourcing/effects/outbox.js';
import { type Lease, makeSoleLease } from '../../../src/event-sourcing/feeding/consumers/lease.js';
import { type OutgoingHttp } from '../../../src/outgoing/outgoing-http.js';
import { makeDeliveryRecords } from '../../../src/webhooks/delivery-records.js';
import { parseEndpoints, type WebhookEndpoint } from '../../../src/webhooks/endpoint.js';
import { makeWebhookAdmin } from '../../../src/webhooks/webhook-admin.js';
import { startWebhooks } from '../../../src/webhooks/webhook-runner.js';
import { everyEvent } from '../examples/every-event.js';
import { makeSeededRandom } from '../fakes/clock.js';
import { makeMemoryEventStore } from '../fakes/memory-event-store.js';
import { makeMemoryStateStore } from '../fakes/memory-state-store.js';
import { settableClock } from '../fakes/settable-clock.js';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { eventually } from '../eventually.js';
import { metadataOf } from '../examples/metadata.js';
import { listen } from '../servers/loopback.js';
import { makePatientHttp } from '../clients/patient-http.js';

export const webhookSecret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
export const dayMs = 24 * 60 * 60 * 1_000;

/** Longer sleeps of the code under test end after this time, so that a test waits for no back-off. */
const sleepMsMax = 10;
/** A busy machine must not make an attempt fail: the clock stands still, so no retry would follow. */
const answerMs = 600_000;
/** For receivers that hang. */
export const shortAnswerMs = 500;

/** Makes a world of outgoing events on stores in memory: a clock that the test moves, and any number of processes. */
export function givenWebhooks(t: ExecutionContext) {
  const wall = settableClock();
  const advance = (ms: number): void => wall.advance(ms);
  const clock = {
    ...wall,
    sleep: (ms: number, signal?: AbortSignal) => wall.sleep(Math.min(ms, sleepMsMax), signal),
  };
  const random = makeSeededRandom(1);
  // The log follower of the store waits for changes, and needs no fast clock.
  const eventStore = makeMemoryEventStore({ clock: wall, random });
  const stateStore = makeMemoryStateStore({ clock });
  const unguarded = makePatientHttp({ isAllowed: () => true });

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
        readonly clock?: Clock;
      } = {},
    ) => {
      /** What the process reported: `<event> <endpoint>`, in order. */
      const reports: string[] = [];
      const report = (event: string) => (endpoint: string) => reports.push(`${event} ${endpoint}`);
      const [ownStore, ownClock] = [parts.stateStore ?? stateStore, parts.clock ?? clock];
      const runner = startWebhooks(
        {
          ...{ eventStore, clock: ownClock, random, sleepUntilRetry: clock.sleep },
          timeMs: parts.timeMs ?? answerMs,
          outbox: makeOutbox({ stateStore: ownStore, clock: ownClock, onRetry: report('retry') }),
          records: makeDeliveryRecords(ownStore),
          http: parts.http ?? unguarded,
          lease: parts.lease ?? makeSoleLease(randomUUID()),
        },
        endpoints,
        {
          onRetry: report('retry'),
          onOutcome: (endpoint, outcome) => report(outcome)(endpoint),
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
  return { id, type, data, metadata: metadataOf(id, 'operator', at.toISOString()) };
}

/** A request that the receiver got. */
interface ReceivedWebhook {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The answer to a request: a status, or a connection that hangs or closes. */
type WebhookAnswer = number | 'hang' | 'close';

/** A real HTTP server of an endpoint. */
export interface WebhookReceiver {
  readonly url: string;
  /** All requests, also those that were refused. */
  readonly received: readonly ReceivedWebhook[];
  /** The requests that were answered with 2xx. */
  readonly accepted: readonly ReceivedWebhook[];
  answerWith(answer: (request: ReceivedWebhook) => WebhookAnswer): void;
  /** Resolves when the receiver has accepted so many requests. */
  acceptedCount(count: number): Promise<unknown>;
  receivedCount(count: number): Promise<unknown>;
}

const bodySchema = z.object({
  type: z.string(),
  timestamp: z.string(),
  data: z.record(z.string(), z.unknown()),
});

/** Starts a receiver that answers 204. */
export async function startWebhookReceiver(t: ExecutionContext): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  const accepted: ReceivedWebhook[] = [];
  let answer: (request: ReceivedWebhook) => WebhookAnswer = () => 204;
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const { type, data } = bodySchema.parse(JSON.parse(body));
      const { headers } = request;
      const got = { id: String(headers['webhook-id']), type, data, headers, body };
      received.push(got);
      const given = answer(got);
      if (given === 'hang') return;
      if (given === 'close') {
        request.socket.destroy();
        return;
      }
      if (given < 300) accepted.push(got);
      response.writeHead(given, given === 302 ? { location: '/elsewhere' } : {}).end();
    });
  });
  return {
    url: `http://127.0.0.1:${await listen(t, server)}/hook`,
    ...{ received, accepted },
    answerWith: (next) => {
      answer = next;
    },
    acceptedCount: (count) => eventually(`${count} accepted webhooks`, () => accepted.length >= count),
    receivedCount: (count) => eventually(`${count} webhooks`, () => received.length >= count),
  };
}

/** Returns the `n`-th id of an order in a test. */
export function anId(n: number): string {
  return `019b7d00-0000-7000-8000-${String(n).padStart(12, '0')}`;
}
