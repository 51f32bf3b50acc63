import type { Services } from '../services.js';
import { unlessAborted } from '../../kit/time/time-limit.js';
import { makeMailReviews } from '../../areas/payments/commands/deciding/mail-reviews.js';
import { systemContext } from './shared-tasks.js';

/** The time between two looks. */
const lookMs = 60_000;

/**
 * Runs what one of the processes does once a day, until the signal aborts. A look that runs then is left to itself, because a
 * reconciliation may take a minute: it fails when the stores close, and the next process asks again.
 */
export async function runDailyTasks(services: Services, signal: AbortSignal): Promise<void> {
  const { clock, noteRetry } = services;
  const mailReviews = reviewMailsOf(services);
  await Promise.all([
    repeat(
      () => reconcile(services),
      (error) => noteRetry('the reconciliation with a payment platform failed; retrying', error),
    ),
    mailReviews === null
      ? undefined
      : repeat(mailReviews, (error) => {
          noteRetry('the mail to operators was not requested; it is tried again', error);
        }),
  ]);

  /** A failure is a line in the log, and the next look tries again. */
  async function repeat(look: () => Promise<void>, onFailed: (error: unknown) => void): Promise<void> {
    while (!signal.aborted) {
      await unlessAborted(look().catch(onFailed), signal);
      // The abort ends the wait.
      await clock.sleep(lookMs, signal).catch(() => undefined);
    }
  }
}

/** Makes what mails the addresses of `OPERATOR_MAIL` the payments that wait; null without the setting. */
function reviewMailsOf(services: Services): (() => Promise<void>) | null {
  const { config, readers, stores, clock, mails, log } = services;
  if (mails === null || config.operatorMail.length === 0) return null;
  const mailReviews = makeMailReviews({
    ...readers,
    ...stores,
    clock,
    mails,
    publicUrl: config.publicUrl,
    recipients: config.operatorMail,
  });
  return async () => {
    if (await mailReviews()) log.logger.info('payments wait, and the operators get a mail');
  };
}

/** Asks the payment platforms for what their callbacks did not report: src/areas/payments/platforms/README.md#reconciling. */
async function reconcile({ commands, clock, log: { logger } }: Services): Promise<void> {
  for (const [provider, counts] of await commands.reconcileDaily(() => systemContext('reconciling', clock))) {
    logger.info(
      { provider, ...counts },
      'a payment platform was asked for what its callbacks did not report',
    );
  }
}
