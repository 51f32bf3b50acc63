import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';
import type { Status } from '../../observing/components.js';

export interface MetricsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Answers a path of the listener. */
type Answer = () => Promise<{ readonly status: number; readonly type: string; readonly text: string }>;

const json = 'application/json';

/**
 * Serves `GET /metrics` in Prometheus' text format, on a separate listener that need not be public. `GET /healthz` says
 * that the process lives, also while a long start keeps the other listener closed. `GET /readyz` names each part with its
 * state: 200 for a process that is ready, otherwise 503.
 */
export async function startMetricsServer(deps: {
  readonly registry: Registry;
  readonly status: () => Status;
  readonly host: string;
  readonly port: number;
}): Promise<MetricsServer> {
  const { registry, status, host, port } = deps;
  const answers = new Map<string, Answer>([
    ['/healthz', () => Promise.resolve({ status: 200, type: json, text: '{"status":"ok"}' })],
    ['/metrics', async () => ({ status: 200, type: registry.contentType, text: await registry.metrics() })],
    [
      '/readyz',
      () => {
        const now = status();
        return Promise.resolve({ status: now.ready ? 200 : 503, type: json, text: JSON.stringify(now) });
      },
    ],
  ]);
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000 }, (request, response) => {
    const answer = request.method === 'GET' ? answers.get(request.url ?? '') : undefined;
    if (answer === undefined) {
      response.writeHead(404).end();
      return;
    }
    answer().then(
      (reply) =>
        response
          .writeHead(reply.status, { 'content-type': reply.type, 'cache-control': 'no-store' })
          .end(reply.text),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => {
          resolve();
        });
        server.closeAllConnections();
      }),
  };
}
