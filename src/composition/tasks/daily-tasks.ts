import { randomUUID } from 'node:crypto';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { sentenceOf } from '../starting.js';
import type { Services } from '../services.js';
import { levelOf } from '../opening/store-reports.js';
import { makeMailReviews } from '../../areas/payments/commands/deciding/mail-reviews.js';

/** The time between two looks. */
const reviewLookMs = 60_000;

/**
 * Mails the addresses of `OPERATOR_MAIL` the payments that wait, until the signal aborts. Without the setting it does
 * nothing. A failure is a line in the log, and the next look tries again.
 */
async function runReviewMail(services: Services, signal: AbortSignal): Promise<void> {
  const { config, readers, stores, clock, availability, mails } = services;
  const { logger } = services.log;
  if (mails === null || config.operatorMail.length === 0) return;
  const mailReviews = makeMailReviews({
    ...readers,
    ...stores,
    clock,
    mails,
    publicUrl: config.publicUrl,
    recipients: config.operatorMail,
  });
  while (!signal.aborted) {
    try {
      if (await mailReviews()) logger.info('payments wait, and the operators get a mail');
    } catch (error) {
      logger[levelOf(availability, error)](
        { error: sentenceOf(error) },
        'the mail to operators was not requested; it is tried again',
      );
    }
    // The abort ends the wait.
    await clock.sleep(reviewLookMs, signal).catch(() => undefined);
  }
}

/** The time between two looks. */
const lookMs = 60_000;

/** Runs what one of the processes does once a day, until the signal aborts. */
export async function runDailyTasks(services: Services, signal: AbortSignal): Promise<void> {
  await Promise.all([runReviewMail(services, signal), runReconciling(services, signal)]);
}

/**
 * Asks the payment platforms for what their callbacks did not report: src/areas/payments/platforms/README.md#reconciling. A failure is a line in the log, and a
 * later look tries again.
 */
async function runReconciling(services: Services, signal: AbortSignal): Promise<void> {
  const { commands, clock, availability } = services;
  const { logger } = services.log;
  const makeContext = (): CommandContext => {
    const commandId = randomUUID();
    const causes = { causationId: commandId, correlationId: commandId };
    return { commandId, ...causes, actor: 'system:reconciling', time: clock.now() };
  };
  while (!signal.aborted) {
    try {
      for (const [provider, counts] of await commands.reconcileDaily(makeContext)) {
        logger.info(
          { provider, ...counts },
          'a payment platform was asked for what its callbacks did not report',
        );
      }
    } catch (error) {
      logger[levelOf(availability, error)](
        { error: sentenceOf(error) },
        'the reconciliation with a payment platform failed; retrying',
      );
    }
    // The abort ends the wait.
    await clock.sleep(lookMs, signal).catch(() => undefined);
  }
}
