import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { z } from 'zod';
import { eventually } from '../eventually.js';

/** A request that the receiver got. */
export interface ReceivedWebhook {
  readonly id: string;
  readonly type: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** The answer to a request: a status, or a connection that hangs or closes. */
export type WebhookAnswer = number | 'hang' | 'close';

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
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
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
  const port = await listenOn(server);
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${port}/hook`,
    ...{ received, accepted },
    answerWith: (next) => {
      answer = next;
    },
    acceptedCount: (count) => eventually(`${count} accepted webhooks`, () => accepted.length >= count),
    receivedCount: (count) => eventually(`${count} webhooks`, () => received.length >= count),
  };
}

function listenOn(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve((server.address() as AddressInfo).port);
    });
  });
}
