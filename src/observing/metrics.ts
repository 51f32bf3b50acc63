import { collectDefaultMetrics, type Registry } from 'prom-client';
import type { Clock } from '../kit/time/clock.js';
import type { ProjectionRunner } from '../event-sourcing/feeding/projectors/projection-runner.js';
import type { ReactionStatus } from '../event-sourcing/effects/reaction-runner.js';
import type { Page } from '../event-sourcing/views/views.js';
import { gaugesOf, secondsSince } from './gauges.js';

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
  const gauge = (
    name: string,
    help: string,
    label: string,
    values: () => Iterable<readonly [string, number]>,
  ): void => {
    gaugesOf(registry)(name, help, () => Array.from(values(), ([of, value]) => [{ [label]: of }, value]), [
      label,
    ]);
  };
  const ofProjections = (value: (status: ReturnType<ProjectionRunner['statuses']>[number]) => number) => () =>
    (running.projections()?.statuses() ?? []).map((one) => [one.collection, value(one)] as const);
  const ofReactions = (value: (status: ReactionStatus) => number) => () =>
    running.reactions().map((one) => [one.name, value(one)] as const);
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
    ofProjections(({ state }) => Number(state === 'stopped')),
  );
  gauge(
    'stowage_projection_quarantined',
    'Streams that a projection cannot take in; stowage projection list names them.',
    'collection',
    ofProjections(({ quarantined = 0 }) => quarantined),
  );
  gauge(
    'stowage_reaction_quarantined',
    'Events that a reaction cannot serve, because an event cannot be read; stowage projection list names them.',
    'reaction',
    ofReactions(({ quarantined }) => quarantined),
  );
  gauge(
    'stowage_reaction_open_events',
    'Events that a reaction has taken and that have no outcome yet.',
    'reaction',
    ofReactions(({ open }) => open),
  );
  gauge(
    'stowage_reaction_lag_seconds',
    'Age of the oldest event that waits for its outcome; 0 when none does.',
    'reaction',
    ofReactions(({ oldestOpenAt }) => secondsSince(clock, oldestOpenAt)),
  );
  gauge(
    'stowage_reaction_stopped',
    '1 for a reaction that an event or a store stopped for good; the log says why.',
    'reaction',
    ofReactions(({ state }) => Number(state === 'stopped')),
  );
}

/** The largest count. It is enough to show that an operator should look. */
const waitingMax = 100;

/** Registers gauges of payments that wait for an operator. */
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
  const gauge = gaugesOf(registry);
  gauge(
    'stowage_payments_waiting',
    `Payments that wait for an operator, by the list that shows them; ${waitingMax} are that many or more.`,
    async () => {
      const page = { limit: waitingMax };
      const [unmatched, review] = await Promise.all([
        paymentCallbacks.unmatched(page),
        orders.inReview(page),
      ]);
      return [
        [{ list: 'unmatched' }, unmatched.length],
        [{ list: 'review' }, review.length],
      ];
    },
    ['list'],
  );
  gauge(
    'stowage_payments_in_review',
    `Payments in review by reason, counted among the first ${waitingMax}.`,
    async () => Array.from(await orders.reviewReasons(waitingMax), ([reason, count]) => [{ reason }, count]),
    ['reason'],
  );
  gauge(
    'stowage_payments_unmatched_oldest_seconds',
    'How long ago the oldest callback was received that waits for an operator; 0 when none does.',
    async () => {
      const [oldest] = await paymentCallbacks.unmatched({ limit: 1 });
      return secondsSince(clock, oldest === undefined ? null : new Date(oldest.received_at));
    },
  );
}
