import { type Config, ConfigProblem } from '../../config/config.js';
import { makeAllowedAddresses } from '../../areas/storages/domain/bucket/bucket.js';
import type { EventStore } from '../../event-sourcing/ports/event-store.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { makeAllowedAddress } from '../../outgoing/addresses.js';
import { type OutgoingOptions, makeOutgoingHttp } from '../../outgoing/outgoing-http.js';
import { makeWebhookCounters } from '../../observing/webhook-metrics.js';
import { makeDeliveryRecords } from '../../webhooks/delivery-records.js';
import { makeWebhookAdmin } from '../../webhooks/webhook-admin.js';
import { type MailOutbox, makeMailOutbox } from '../../mail/mail-outbox.js';
import type { NoteRetry } from './store-reports.js';
import type { Log } from '../../log.js';
import { type Mailer, makeLogMailer, makeMailer } from '../../mail/mailer.js';
import { parseSmtpUrl } from '../../mail/smtp-url.js';

/**
 * Returns null without `SMTP_URL`.
 * @throws ConfigProblem when SMTP_URL, which a file may hold, names no mail server any more
 */
export function openMailer(config: Config, { logger }: Log): Mailer | null {
  if (!config.mailConfigured) return null;
  if (config.mailsToLog) {
    return makeLogMailer((mail) => logger.info(mail, 'a mail, logged instead of sent'));
  }
  const server = parseSmtpUrl(config.secret('SMTP_URL') ?? '');
  if (server === null) throw new ConfigProblem('SMTP_URL is not what it was at the start');
  return makeMailer({ server, from: config.mailFrom, times: config.smtpTimes });
}

/** Makes the mails of the outbox. Its lines in the log name a person by id. */
export function openMails({
  config,
  log,
  noteRetry,
  ...deps
}: Omit<Parameters<typeof makeMailOutbox>[0], 'waits' | 'onRetry' | 'onGivenUp'> & {
  readonly config: Config;
  readonly log: Log;
  readonly noteRetry: NoteRetry;
}): MailOutbox {
  return makeMailOutbox({
    ...deps,
    waits: config.mailWaits,
    onRetry: (mail, error) => noteRetry('a mail waits; it is tried again', error, mail),
    onGivenUp: (mail, error) => log.logger.warn({ ...mail, error: error.message }, 'a mail was given up'),
  });
}

/** Opens the outgoing events of a process: src/webhooks/README.md#delivery. */
export function openWebhooks(deps: {
  readonly config: Pick<Config, 'webhooks' | 'webhookAllowedCidrs'>;
  readonly eventStore: EventStore;
  readonly stateStore: StateStore;
  readonly clock: { now(): Date };
  readonly outgoing: OutgoingOptions | undefined;
}) {
  const { config, eventStore, stateStore, clock, outgoing } = deps;
  const { webhookAllowedCidrs: cidrs } = config;
  const endpoints = config.webhooks();
  const records = makeDeliveryRecords(stateStore);
  return {
    ...{ endpoints, records },
    http: makeOutgoingHttp({
      isAllowed: makeAllowedAddress(cidrs),
      isAllowedPlain: makeAllowedAddresses(cidrs),
      ...outgoing,
    }),
    admin: makeWebhookAdmin({ endpoints, records, eventStore, clock }),
    counters: makeWebhookCounters(),
  };
}
