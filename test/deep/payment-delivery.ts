import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'node:net';
import type { Random } from '../../src/kit/time/clock.js';
import { makeHttpLane, type RawReply } from '../support/clients/http-socket.js';
import type { SentCallback } from '../support/clients/sign-callbacks.js';
import type { Platform, PlatformMessage } from './payment-senders.js';

/** The deliveries of platforms and their acknowledgements. */
export interface Delivery {
  /** Resolves once every delivery is acknowledged. @throws Error for a reply that must not occur */
  run(): Promise<void>;
  /** Sends a message once, and disconnects before there is a reply. */
  leave(message: PlatformMessage): Promise<void>;
  /** Returns whether a reply that must not occur has come. Then nothing more is sent. */
  hasFailed(): boolean;
  /** Returns the number of acknowledged deliveries. */
  acknowledged(): number;
  /** When each message was first acknowledged, in epoch milliseconds. */
  readonly firstAt: ReadonlyMap<PlatformMessage, number>;
  /** Returns the number of repeated deliveries: after no connection, no reply, 408 or 503. */
  repeated(): number;
}

const connections = 12;
/** More attempts mean that the test hangs. */
const triesMax = 2_000;

/**
 * Sends the deliveries in their order over several connections at once, and each again until it is acknowledged. Some
 * platforms are impatient: they end the connection before there is a reply.
 */
export function makeDelivery({
  deliveries,
  platforms,
  ports,
  random,
}: {
  readonly deliveries: readonly PlatformMessage[];
  readonly platforms: ReadonlyMap<string, Platform>;
  /** Of the processes. Each try of a delivery goes to any of them. */
  readonly ports: readonly number[];
  readonly random: Random;
}): Delivery {
  const waiting = deliveries.map((message) => ({ message, tries: 0 })).reverse();
  const firstAt = new Map<PlatformMessage, number>();
  let acknowledged = 0;
  let repeated = 0;
  let underWay = 0;
  let failure: Error | null = null;

  return {
    run: async () => {
      await Promise.all(Array.from({ length: connections }, (_, index) => work(portAt(index))));
      // A failure of one connection ends all of them.
      if (failure !== null) throw failure;
    },
    leave: (message) =>
      sendAndLeave(
        requestOf(message.provider, message.sign(new Date())),
        portAt(Math.floor(random() * ports.length)),
      ),
    hasFailed: () => failure !== null,
    acknowledged: () => acknowledged,
    firstAt,
    repeated: () => repeated,
  };

  function portAt(index: number): number {
    const port = ports[index % ports.length];
    if (port === undefined) throw new Error('there is no process to send to');
    return port;
  }

  async function work(port: number): Promise<void> {
    const lane = makeHttpLane(port);
    while (failure === null && (waiting.length > 0 || underWay > 0)) {
      const next = waiting.pop();
      if (next === undefined) {
        // Another connection may have to put its delivery back into the queue.
        await sleep(5);
        continue;
      }
      underWay += 1;
      const isDone = await deliver({ lane, port }, next.message);
      underWay -= 1;
      if (isDone) continue;
      repeated += 1;
      if (next.tries > triesMax) failure ??= new Error(`${next.message.key} was never acknowledged`);
      // The repetition comes soon, but not before all other deliveries.
      const place = waiting.length - Math.floor(random() * Math.min(waiting.length, 100));
      waiting.splice(place, 0, { ...next, tries: next.tries + 1 });
      await sleep(30);
    }
    lane.close();
  }

  async function deliver(
    { lane, port }: { readonly lane: ReturnType<typeof makeHttpLane>; readonly port: number },
    message: PlatformMessage,
  ): Promise<boolean> {
    const bytes = requestOf(message.provider, message.sign(new Date()));
    if (random() < 0.01) {
      const part = random() < 0.3 ? bytes.subarray(0, Math.floor(random() * bytes.length)) : bytes;
      await sendAndLeave(part, port);
      return false;
    }
    const reply = await lane.ask(bytes).catch(() => null);
    // A busy machine may send a request too slowly, which is 408.
    if (reply === null || reply.status === 503 || reply.status === 408) return false;
    if (platforms.get(message.provider)?.isAcknowledged(reply) !== true) {
      failure ??= new Error(`${message.provider} ${message.key} was answered ${describe(reply)}`);
      return true;
    }
    acknowledged += 1;
    if (!firstAt.has(message)) firstAt.set(message, Date.now());
    return true;
  }

  /** Sends the request and does not wait for the reply. */
  function sendAndLeave(bytes: Buffer, port: number): Promise<void> {
    const patienceMs = random() * 8;
    return new Promise((resolve) => {
      const socket = connect({ port, host: '127.0.0.1' });
      socket.on('error', () => undefined);
      socket.once('close', () => resolve());
      socket.once('connect', () => {
        socket.write(bytes);
        setTimeout(() => socket.destroy(), patienceMs);
      });
    });
  }
}

function requestOf(provider: string, { method, query, headers, body }: SentCallback): Buffer {
  const bytes = Buffer.from(body);
  const lines = [
    `${method} /api/v1/payment/webhooks/${provider}${query} HTTP/1.1`,
    'host: service.test',
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(method === 'POST' ? [`content-length: ${bytes.length}`] : []),
  ];
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), bytes]);
}

function describe({ status, text }: RawReply): string {
  return `${status} ${text}`;
}
