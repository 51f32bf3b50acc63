import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../event-sourcing/clock.js';
import type { ProjectionStatus } from '../event-sourcing/projection-runner.js';
import { StoreUnavailable } from '../event-sourcing/errors.js';
import type { ReactionStatus } from '../event-sourcing/reaction-runner.js';
import type { Page } from '../event-sourcing/views.js';

/** Registers what is measured besides HTTP: the process, and how far each projection and each reaction is. */
export function registerMetrics(
  registry: Registry,
  clock: Clock,
  statuses: {
    readonly projections: () => readonly ProjectionStatus[];
    readonly reactions: () => readonly ReactionStatus[];
  },
): void {
  collectDefaultMetrics({ register: registry });
  new Gauge({
    name: 'stowage_projection_lag_seconds',
    help: 'Age of the last event that a projection has taken while later ones wait; 0 at the head of the log.',
    labelNames: ['collection'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { collection, atHead, lastEventAt } of statuses.projections()) {
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
      for (const { collection, state } of statuses.projections())
        this.set({ collection }, state === 'stopped' ? 1 : 0);
    },
  });
  new Gauge({
    name: 'stowage_reaction_open_events',
    help: 'Events that a reaction has taken and that have no outcome yet.',
    labelNames: ['reaction'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, open } of statuses.reactions()) this.set({ reaction: name }, open);
    },
  });
  new Gauge({
    name: 'stowage_reaction_lag_seconds',
    help: 'Age of the oldest event that waits for its outcome; 0 when none does.',
    labelNames: ['reaction'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, oldestOpenAt } of statuses.reactions()) {
        const lagMs = oldestOpenAt === null ? 0 : clock.now().getTime() - oldestOpenAt.getTime();
        this.set({ reaction: name }, lagMs / 1000);
      }
    },
  });
  new Gauge({
    name: 'stowage_reaction_stopped',
    help: '1 for a reaction that an event or a store stopped for good; the log says why.',
    labelNames: ['reaction'],
    registers: [registry],
    collect() {
      this.reset();
      for (const { name, state } of statuses.reactions())
        this.set({ reaction: name }, state === 'stopped' ? 1 : 0);
    },
  });
}

/** So many are counted at most: enough to see that somebody should look. */
const waitingMax = 100;

/** Registers how many payments wait for an operator, and how long. While the read models are away nothing is told of them. */
export function registerPaymentMetrics(
  registry: Registry,
  clock: Pick<Clock, 'now'>,
  {
    paymentCallbacks,
    orders,
  }: {
    readonly paymentCallbacks: {
      /** The longest received first. */
      unmatched(page: Page): Promise<readonly { readonly received_at: string }[]>;
    };
    readonly orders: { inReview(page: Page): Promise<readonly unknown[]> };
  },
): void {
  new Gauge({
    name: 'stowage_payments_waiting',
    help: `Payments that wait for an operator, by the list that shows them; ${waitingMax} are that many or more.`,
    labelNames: ['list'],
    registers: [registry],
    async collect() {
      this.reset();
      const page = { limit: waitingMax };
      try {
        const [unmatched, review] = await Promise.all([
          paymentCallbacks.unmatched(page),
          orders.inReview(page),
        ]);
        this.set({ list: 'unmatched' }, unmatched.length);
        this.set({ list: 'review' }, review.length);
      } catch (error) {
        unlessAway(error);
      }
    },
  });
  new Gauge({
    name: 'stowage_payments_unmatched_oldest_seconds',
    help: 'How long ago the oldest callback was received that waits for an operator; 0 when none does.',
    registers: [registry],
    async collect() {
      // Not reset: without labels that is to say that none waits.
      this.remove();
      try {
        const [oldest] = await paymentCallbacks.unmatched({ limit: 1 });
        const ageMs = oldest === undefined ? 0 : clock.now().getTime() - Date.parse(oldest.received_at);
        // Another process has received it, and its clock may be ahead.
        this.set(Math.max(0, ageMs) / 1000);
      } catch (error) {
        unlessAway(error);
      }
    },
  });
}

/** The gauges of the projections tell of read models that are away. @throws whatever else it is */
function unlessAway(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error;
}
