import type { Registry } from 'prom-client';
import { gaugesOf, secondsSince } from './gauges.js';

/** Counts of this process since its start, by endpoint. */
type WebhookCounters = ReturnType<typeof makeWebhookCounters>;

export function makeWebhookCounters() {
  const attempts = new Map<string, Map<string, number>>();
  const givenUp = new Map<string, number>();
  return {
    attempted: (endpoint: string, outcome: string) => {
      const counts = attempts.get(endpoint) ?? new Map<string, number>();
      attempts.set(endpoint, counts.set(outcome, (counts.get(outcome) ?? 0) + 1));
    },
    gaveUp: (endpoint: string) => givenUp.set(endpoint, (givenUp.get(endpoint) ?? 0) + 1),
    /** Returns the attempts by endpoint and outcome. */
    attempts: (): readonly (readonly [endpoint: string, outcome: string, count: number])[] =>
      [...attempts].flatMap(([endpoint, counts]) =>
        [...counts].map(([outcome, count]) => [endpoint, outcome, count] as const),
      ),
    givenUp: (): readonly (readonly [endpoint: string, count: number])[] => [...givenUp],
  };
}

/** An endpoint that this process feeds. */
interface ActiveWebhook {
  readonly endpointId: string;
  readonly state: string;
  readonly pending: number;
  readonly oldestAt: Date | null;
}

/** Registers the metrics of outgoing events. The label `endpoint` is the id that `stowage webhooks list` shows. */
export function registerWebhookMetrics(
  registry: Registry,
  clock: { now(): Date },
  webhooks: { readonly counters: WebhookCounters; readonly active: () => readonly ActiveWebhook[] },
): void {
  const gauge = gaugesOf(registry);
  const { counters, active } = webhooks;
  const ofActive = (value: (webhook: ActiveWebhook) => number) => () =>
    active().map((one) => [{ endpoint: one.endpointId }, value(one)] as const);
  gauge(
    'stowage_webhook_attempts',
    'Attempts of this process to deliver an event, by outcome: delivered, failed or gone.',
    () => counters.attempts().map(([endpoint, outcome, count]) => [{ endpoint, outcome }, count]),
    ['endpoint', 'outcome'],
  );
  gauge(
    'stowage_webhook_given_up',
    'Deliveries that this process gave up after three days; stowage webhooks failed lists them.',
    () => counters.givenUp().map(([endpoint, count]) => [{ endpoint }, count]),
    ['endpoint'],
  );
  gauge(
    'stowage_webhook_pending',
    'Messages that wait for an attempt, for the endpoints that this process feeds.',
    ofActive(({ pending }) => pending),
    ['endpoint'],
  );
  gauge(
    'stowage_webhook_oldest_pending_seconds',
    'How long the resource that waits longest has waited; 0 when none does.',
    ofActive(({ oldestAt }) => secondsSince(clock, oldestAt)),
    ['endpoint'],
  );
  gauge(
    'stowage_webhook_stopped',
    '1 for an endpoint that answered 410, or that an event stopped; the log says why.',
    ofActive(({ state }) => Number(state !== 'delivering')),
    ['endpoint'],
  );
}
