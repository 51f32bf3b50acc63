import { makeMailReviews } from '../../areas/payments/commands/mail-reviews.js';
import { sentenceOf } from '../sentence-of.js';
import type { Services } from '../services.js';
import { levelOf } from '../opening/store-reports.js';

/** The time between two looks. */
const lookMs = 60_000;

/**
 * Mails the addresses of `OPERATOR_MAIL` the payments that wait, until the signal aborts. Without the setting it does
 * nothing. A failure is a line in the log, and the next look tries again.
 */
export async function runReviewMail(services: Services, signal: AbortSignal): Promise<void> {
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
    await clock.sleep(lookMs, signal).catch(() => undefined);
  }
}
