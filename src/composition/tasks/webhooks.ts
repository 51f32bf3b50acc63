import { startWebhooks, type WebhookRunner } from '../../webhooks/webhook-runner.js';
import { sentenceOf } from '../sentence-of.js';
import type { Services } from '../services.js';
import { levelOf } from '../opening/store-reports.js';

/** Starts the deliveries of the endpoints while this process is the owner of the lease. They need no view. */
export function bringUpWebhooks(services: Services): WebhookRunner {
  const { logger } = services.log;
  const { webhooks, availability } = services;
  const { records, http, counters } = webhooks;
  return startWebhooks({ ...services, records, http, lease: services.leases.feeder }, webhooks.endpoints, {
    onRetry: (endpoint, error, failures) => {
      const level = levelOf(availability, error);
      logger[level]({ endpoint, error: sentenceOf(error), failures }, 'a webhook waits for a store');
    },
    onOutcome: counters.attempted,
    onGivenUp: (endpoint, { stream, revision, type, reason }) => {
      counters.gaveUp(endpoint);
      logger.error({ endpoint, stream, revision, type, reason }, 'a webhook delivery was given up');
    },
    onOtherLog: (endpoint, problem) => {
      logger.error({ endpoint, problem }, 'a webhook goes on at the end of a log that it has not followed');
    },
    onStopped: (endpoint, error) => {
      logger.error({ endpoint, error: sentenceOf(error) }, 'a webhook stopped');
    },
    onGone: (endpoint) => {
      logger.error({ endpoint }, 'a webhook got 410 Gone and stops until the next start');
    },
    onDropped: (endpoint) => {
      logger.info({ endpoint }, 'the deliveries of a webhook that no setting names were dropped');
    },
  });
}
