import { type WebhookRunner, startWebhooks } from '../../webhooks/webhook-runner.js';
import { sentenceOf } from '../starting.js';
import type { Services } from '../services.js';
import { reactionConsumer } from '../../event-sourcing/feeding/consumers/tasks.js';
import { runConsumers } from '../../event-sourcing/feeding/consumers/run-consumers.js';

const reaction = 'outbox';

/** Delivers the mails of the outbox while this process is the owner of the lease. Without mail it does nothing. */
export function bringUpMails({
  mails,
  outbox,
  clock,
  leases,
  log,
}: Pick<Services, 'mails' | 'outbox' | 'clock' | 'leases' | 'log'>): { readonly stop: () => Promise<void> } {
  if (mails === null) return { stop: () => Promise.resolve() };
  const { lane } = mails;
  return runConsumers(
    leases.feeder,
    [
      {
        name: reactionConsumer(reaction),
        tasks: () => new Map([[lane.name, deliver]]),
        progress: () => {
          const figures = outbox.figures(lane.name);
          const lagMs = Math.max(0, clock.now().getTime() - (figures?.oldestAt ?? clock.now()).getTime());
          return { state: figures === null ? null : 'running', lagMs, problem: null };
        },
      },
    ],
    (_, error) => log.logger.error({ reaction, error: sentenceOf(error) }, 'a reaction stopped'),
  );

  function deliver(signal: AbortSignal) {
    const close = outbox.open(lane);
    const done = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(close()));
    });
    return { done, status: () => ({ state: 'running' }) };
  }
}

/** Starts the deliveries of the endpoints while this process is the owner of the lease. They need no view. */
export function bringUpWebhooks(services: Services): WebhookRunner {
  const { logger } = services.log;
  const { webhooks } = services;
  const { records, http, counters } = webhooks;
  return startWebhooks({ ...services, records, http, lease: services.leases.feeder }, webhooks.endpoints, {
    onRetry: (endpoint, error, failures) => {
      services.noteRetry('a webhook waits for a store', error, { endpoint, failures });
    },
    onOutcome: counters.attempted,
    onGivenUp: (endpoint, { stream, revision, type, reason }) => {
      counters.gaveUp(endpoint);
      logger.error({ endpoint, stream, revision, type, reason }, 'a webhook delivery was given up');
    },
    onOtherLog: (endpoint, problem) => {
      logger.error({ endpoint, problem }, 'a webhook goes on at the end of a log that it has not followed');
    },
    onStopped: (endpoint, error) => logger.error({ endpoint, error: sentenceOf(error) }, 'a webhook stopped'),
    onGone: (endpoint) => logger.error({ endpoint }, 'a webhook got 410 Gone and stops until the next start'),
    onDropped: (endpoint) => {
      logger.info({ endpoint }, 'the deliveries of a webhook that no setting names were dropped');
    },
  });
}
