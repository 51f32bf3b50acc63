import { collectDefaultMetrics, Gauge, type Registry } from 'prom-client';
import type { Clock } from '../kit/time/clock.js';
import type {
  ProjectionRunner,
  ProjectionStatus,
} from '../event-sourcing/feeding/projectors/projection-runner.js';
import { StoreUnavailable } from '../event-sourcing/ports/errors.js';
import type { ReactionStatus } from '../event-sourcing/effects/reaction-runner.js';
import type { Page } from '../event-sourcing/views/views.js';

/** Registers the metrics besides HTTP: the process, and the progress of each projection and each reaction. */
export function registerMetrics(
  registry: Registry,
  clock: Clock,
  running: {
    /** Returns null before the start of the projections. */
    readonly projections: () => ProjectionRunner | null;
    readonly reactions: () => readonly ReactionStatus[];
  },
): void {
  const projections = (): readonly ProjectionStatus[] => running.projections()?.statuses() ?? [];
  const secondsSince = (at: Date | null): number =>
    at === null ? 0 : (clock.now().getTime() - at.getTime()) / 1000;
  const gauge = (
    name: string,
    help: string,
    label: string,
    values: () => readonly (readonly [string, number])[],
  ): Gauge =>
    new Gauge({
      ...{ name, help, labelNames: [label], registers: [registry] },
      collect() {
        this.reset();
        for (const [labelled, value] of values()) this.set({ [label]: labelled }, value);
      },
    });
  collectDefaultMetrics({ register: registry });
  gauge(
    'stowage_projection_lag_seconds',
    'Age of the oldest event that a view does not contain yet; also of views that another process feeds, as it last said.',
    'view',
    () => [...(running.projections()?.lagsMs() ?? [])].map(([view, ms]) => [view, ms / 1_000]),
  );
  gauge(
    'stowage_stalled_seconds',
    'Seconds for which no process feeds a view or reaction while the log moved; no value below 15 s.',
    'consumer',
    () => (running.projections()?.stalled() ?? []).map(({ consumer, forMs }) => [consumer, forMs / 1_000]),
  );
  gauge(
    'stowage_projection_stopped',
    '1 for a projection that an event or a store stopped for good; the log says why.',
    'collection',
    () => projections().map(({ collection, state }) => [collection, Number(state === 'stopped')]),
  );
  gauge(
    'stowage_projection_quarantined',
    'Streams that a projection cannot take in; stowage projection list names them.',
    'collection',
    () => projections().map(({ collection, quarantined = 0 }) => [collection, quarantined]),
  );
  gauge(
    'stowage_reaction_quarantined',
    'Events that a reaction cannot serve, because an event cannot be read; stowage projection list names them.',
    'reaction',
    () => running.reactions().map(({ name, quarantined }) => [name, quarantined]),
  );
  gauge(
    'stowage_reaction_open_events',
    'Events that a reaction has taken and that have no outcome yet.',
    'reaction',
    () => running.reactions().map(({ name, open }) => [name, open]),
  );
  gauge(
    'stowage_reaction_lag_seconds',
    'Age of the oldest event that waits for its outcome; 0 when none does.',
    'reaction',
    () => running.reactions().map(({ name, oldestOpenAt }) => [name, secondsSince(oldestOpenAt)]),
  );
  gauge(
    'stowage_reaction_stopped',
    '1 for a reaction that an event or a store stopped for good; the log says why.',
    'reaction',
    () => running.reactions().map(({ name, state }) => [name, Number(state === 'stopped')]),
  );
}

/** The largest count. It is enough to show that an operator should look. */
const waitingMax = 100;

/** Registers gauges of payments that wait for an operator. They have no value while read models are unavailable. */
export function registerPaymentMetrics(
  registry: Registry,
  clock: Pick<Clock, 'now'>,
  {
    paymentCallbacks,
    orders,
  }: {
    readonly paymentCallbacks: {
      /** Returns unmatched callbacks, the longest received first. */
      unmatched(page: Page): Promise<readonly { readonly received_at: string }[]>;
    };
    readonly orders: {
      inReview(page: Page): Promise<readonly unknown[]>;
      /** Counts the first payments in review by reason; 0 for a reason without one. */
      reviewReasons(limit: number): Promise<ReadonlyMap<string, number>>;
    };
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
    name: 'stowage_payments_in_review',
    help: `Payments in review by reason, counted among the first ${waitingMax}.`,
    labelNames: ['reason'],
    registers: [registry],
    async collect() {
      this.reset();
      try {
        for (const [reason, count] of await orders.reviewReasons(waitingMax)) this.set({ reason }, count);
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
      // `reset` would set a gauge without labels to 0, which means that none waits.
      this.remove();
      try {
        const [oldest] = await paymentCallbacks.unmatched({ limit: 1 });
        const ageMs = oldest === undefined ? 0 : clock.now().getTime() - Date.parse(oldest.received_at);
        // Another process may have received it, and its clock may be ahead.
        this.set(Math.max(0, ageMs) / 1000);
      } catch (error) {
        unlessAway(error);
      }
    },
  });
}

/** Ignores unavailable read models, because the gauges of the projections show them. @throws every other error */
function unlessAway(error: unknown): void {
  if (!(error instanceof StoreUnavailable)) throw error;
}
