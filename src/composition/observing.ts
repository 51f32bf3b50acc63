import type { Registry } from 'prom-client';
import type { Config } from '../config/config.js';
import { nodeStatus } from '../areas/nodes/domain/node/fold.js';
import type { ProjectionRunner } from '../event-sourcing/feeding/projectors/projection-runner.js';
import type { ReactionRunner } from '../event-sourcing/effects/reaction-runner.js';
import { type MetricsServer, startMetricsServer } from '../http/metrics.js';
import { registerAuditMetrics } from '../observing/audit-metrics.js';
import { registerMetrics, registerPaymentMetrics } from '../observing/metrics.js';
import type { Status } from '../observing/components.js';
import {
  registerBehindMetrics,
  registerBuildInfo,
  registerHashMetrics,
  registerMailMetrics,
  registerNodeMetrics,
  registerServerInfo,
} from '../observing/work-metrics.js';
import { registerWebhookMetrics } from '../observing/webhook-metrics.js';
import { version } from '../version.js';
import type { WebhookRunner } from '../webhooks/webhook-runner.js';
import { listening } from './starting.js';
import type { Services } from './services.js';

/** What runs of a service; null before its start. */
export interface RunningTasks {
  projections: ProjectionRunner | null;
  reactions: ReactionRunner | null;
  webhooks: WebhookRunner | null;
}

/** Starts the listener of `METRICS_PORT`; null without one. @throws ConfigProblem when the port cannot be used */
export async function listenForMetrics(
  { host, metricsPort }: Pick<Config, 'host' | 'metricsPort'>,
  registry: Registry,
  status: () => Status,
): Promise<MetricsServer | null> {
  if (metricsPort === undefined) return null;
  return listening(
    startMetricsServer({ registry, status, host, port: metricsPort }),
    `${host}:${metricsPort} (HOST, METRICS_PORT)`,
  );
}

/** Registers all metrics besides those of HTTP. They read `running` at each scrape. */
export function registerServiceMetrics(registry: Registry, services: Services, running: RunningTasks): void {
  const { clock, audit, readers, storeMetrics, nodeCheckMetrics } = services;
  const reactions = () => running.reactions?.statuses() ?? [];
  registerBuildInfo(registry, version);
  registerServerInfo(registry, () => services.links.eventStore.server ?? null);
  storeMetrics.register(registry);
  nodeCheckMetrics.register(registry);
  registerHashMetrics(registry, services.hashPools);
  registerMailMetrics(registry, clock, () => services.outbox.figures('mail'));
  registerBehindMetrics(registry, {
    views: () => running.projections?.positions() ?? [],
    readAll: (options) => services.eventStore.readAll(options),
  });
  registerNodeMetrics(registry, {
    statuses: nodeStatus.options,
    list: () => readers.nodes.list(clock),
  });
  registerMetrics(registry, clock, {
    projections: () => running.projections,
    reactions,
  });
  registerPaymentMetrics(registry, clock, readers);
  registerWebhookMetrics(registry, clock, {
    counters: services.webhooks.counters,
    active: () => running.webhooks?.statuses() ?? [],
  });
  registerAuditMetrics(registry, clock, {
    status: audit.log.status,
    sweptAt: () => audit.sweep.progress().finishedAt,
  });
}
