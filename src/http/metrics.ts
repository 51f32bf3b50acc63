import { Counter, Histogram, type Registry } from 'prom-client';
import { gaugesOf } from '../observing/gauges.js';
import { StoreDamaged, UndecodableEvent } from '../event-sourcing/ports/errors.js';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Status } from '../observing/components.js';

interface RequestMeasurement {
  readonly method: string;
  /** The route's pattern; null without a route. */
  readonly route: string | null;
  readonly status: number;
  readonly durationMs: number;
}

export type HttpMetrics = ReturnType<typeof makeHttpMetrics>;

type SecretRefusal = 'missing' | 'wrong' | 'not_configured';

const methods = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Registers the listener's metrics. The labels are bounded: patterns of routes, known methods, statuses. */
export function makeHttpMetrics(registry: Registry) {
  const durations = new Histogram({
    name: 'stowage_http_request_duration_seconds',
    help: 'Time from a request to its reply, by route pattern, method and status.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    registers: [registry],
  });
  const refused = new Counter({
    name: 'stowage_http_connections_refused_total',
    help: 'Connections ended by a protocol error, a time limit or the limit of connections.',
    labelNames: ['reason'],
    registers: [registry],
  });
  const failures = new Counter({
    name: 'stowage_http_failures_total',
    help: 'Requests that ended in internal_error, by cause: an event that this version cannot read, a damaged store, a defect.',
    labelNames: ['cause'],
    registers: [registry],
  });
  let openConnections = (): Promise<number> => Promise.resolve(0);
  gaugesOf(registry)('stowage_http_connections', 'Open connections of the listener for requests.', () =>
    openConnections(),
  );
  for (const cause of ['undecodable_event', 'store_damaged', 'defect']) failures.inc({ cause }, 0);
  const secrets = new Counter({
    name: 'stowage_secrets_refused_total',
    help: 'Requests whose X-Agent-Secret was refused, by reason: missing, wrong, or not_configured on this service.',
    labelNames: ['reason'],
    registers: [registry],
  });
  for (const reason of ['missing', 'wrong', 'not_configured']) secrets.inc({ reason }, 0);
  // The look-up of a child by its labels costs more than the observation, so children are cached.
  const children = new Map<string, Histogram.Internal<'method' | 'route' | 'status'>>();
  return {
    observe: ({ method, route, status, durationMs }: RequestMeasurement) => {
      const known = methods.has(method) ? method : 'other';
      const key = `${known} ${status} ${route ?? ''}`;
      let child = children.get(key);
      if (child === undefined) {
        child = durations.labels({ method: known, route: route ?? 'none', status: String(status) });
        children.set(key, child);
      }
      child.observe(durationMs / 1000);
    },
    /** Counts a request that ended in `internal_error`. The log has the details. */
    failed: (error: unknown) => failures.inc({ cause: causeOf(error) }),
    /** Counts a request whose agent secret was refused. */
    secretRefused: (reason: SecretRefusal) => secrets.inc({ reason }),
    /** Counts a connection that ended in a protocol error, or that exceeded the limit of connections. */
    connectionRefused: (reason: string) => refused.inc({ reason }),
    /** Shows the open connections of the listener, which counts them when the metrics are read. */
    showConnections: (count: () => Promise<number>) => {
      openConnections = count;
    },
  };
}

/** Registers the keys that the limits of requests hold in memory. */
export function registerLimiterMetrics(
  registry: Registry,
  limiter: { readonly keys: () => Readonly<Record<string, number>> },
): void {
  gaugesOf(registry)(
    'stowage_limiter_keys',
    'Keys that the limits of requests hold in memory, by table: closed refuses new keys when it is full, open evicts one.',
    () => Object.entries(limiter.keys()).map(([table, count]) => [{ table }, count]),
    ['table'],
  );
}

/** Registers the requests that run, and that wait for a permit of their user, project or client. */
export function registerAdmissionMetrics(
  registry: Registry,
  admission: { readonly counts: () => Readonly<Record<'running' | 'waiting', number>> },
): void {
  gaugesOf(registry)(
    'stowage_http_requests',
    'Requests that run, and that wait for others of their user, project or client. Together they are at most MAX_REQUESTS.',
    () => Object.entries(admission.counts()).map(([state, count]) => [{ state }, count]),
    ['state'],
  );
}

function causeOf(error: unknown): string {
  if (error instanceof UndecodableEvent) return 'undecodable_event';
  return error instanceof StoreDamaged ? 'store_damaged' : 'defect';
}

export type MetricsServer = Awaited<ReturnType<typeof startMetricsServer>>;

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
}) {
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
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
