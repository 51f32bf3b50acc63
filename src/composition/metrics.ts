import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../event-sourcing/clock.js';
import type { ProjectionStatus } from '../event-sourcing/projection-runner.js';

/** Registers what is measured besides HTTP: the process, and how far each projection is. */
export function registerMetrics(
  registry: Registry,
  clock: Clock,
  statuses: () => readonly ProjectionStatus[],
): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'stowage_projection_lag_seconds',
    help: 'Age of the last event that a projection has taken while later ones wait; 0 at the head of the log.',
    labelNames: ['collection'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { collection, atHead, lastEventAt } of statuses()) {
        const lagMs = atHead || lastEventAt === null ? 0 : clock.now().getTime() - lastEventAt.getTime();
        this.set({ collection }, lagMs / 1000);
      }
    },
  });
  new Gauge({
    name: 'stowage_projection_stopped',
    help: '1 for a projection that an event or a store stopped for good; the log says why.',
    labelNames: ['collection'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { collection, state } of statuses()) this.set({ collection }, state === 'stopped' ? 1 : 0);
    },
  });
}
