import { z } from 'zod';
import { limitedSignal } from '../../../../kit/time/limited-signal.js';
import type { Clock } from '../../../../kit/time/clock.js';
import type { StateStore } from '../../../../event-sourcing/ports/state-store.js';
import { reactionCommandId } from '../../../../event-sourcing/deciding/ids.js';
import { changeRecord } from '../../../../event-sourcing/ports/change-record.js';
import { MailRefused } from '../../../../mail/errors.js';
import type { Mailbox } from '../../../../mail/mailbox.js';
import type { Mailer } from '../../../../mail/mailer.js';
import { paymentReviewsMessage, type WaitingPayment } from './payment-reviews.js';

/** The time between two mails. */
const dayMs = 86_400_000;
/** No other process mails during the claim: a mail ends within 45 s. */
const claimMs = 60_000;
const mailMs = 45_000;
/** The wait after a mail that was not sent. */
const putOffMs = 300_000;
const listedMax = 50;

const key = 'mail/payment-reviews';

/** Storage format of the record of the daily mail, which all processes share. */
const recordSchema = z.strictObject({
  /** The time from which a process may mail. */
  due: z.iso.datetime(),
  /** The name of the mail that was begun; null after it was sent to every recipient. */
  begun: z.string().nullable(),
  /** The places of the recipients, in the setting, that have this mail. */
  sent_to: z.array(z.int()),
});
type MailRecord = z.infer<typeof recordSchema>;

export interface ReviewMailDeps {
  readonly orders: {
    /** Lists the payments that wait, those of the oldest order first. */
    inReview(page: { readonly limit: number }): Promise<readonly WaitingPayment[]>;
  };
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly mailer: Pick<Mailer, 'send'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly publicUrl: string;
  readonly recipients: readonly Mailbox[];
  /** Reports a mail that a retry would not help. The error names no address. */
  readonly onRefused: (error: Error) => void;
}

/**
 * Mails the operators the payments that wait, at most once in 24 hours and only while some wait. All processes call it
 * about once a minute, and share a record, so one of them mails. A crash between the mail and its record sends it again
 * with the same Message-ID.
 * @returns whether it mailed @throws MailNotSent: another call tries again in 5 minutes; StoreUnavailable
 */
export type MailReviews = (signal: AbortSignal) => Promise<boolean>;

export function makeMailReviews(deps: ReviewMailDeps): MailReviews {
  const { orders, stateStore, clock, publicUrl } = deps;
  let quietUntilMs = -Infinity;
  return async (signal) => {
    // Most calls end here, without a call to a store.
    if (clock.now().getTime() < quietUntilMs) return false;
    const found = await orders.inReview({ limit: listedMax + 1 });
    if (found.length === 0) return false;
    const claimed = await claim();
    if (claimed === null) return false;
    const message = paymentReviewsMessage({
      ...{ waiting: found.slice(0, listedMax), hasMore: found.length > listedMax, publicUrl },
    });
    const outcome = await sendAll(message, claimed.record, signal);
    const isSent = outcome.failure === null;
    const next: MailRecord = {
      due: new Date(clock.now().getTime() + (isSent ? dayMs : putOffMs)).toISOString(),
      begun: isSent ? null : claimed.record.begun,
      sent_to: isSent ? [] : outcome.sentTo,
    };
    await stateStore.compareAndSet(key, claimed.version, next);
    if (outcome.failure !== null) throw outcome.failure;
    return true;
  };

  /** Takes the right to mail; null while no mail is due, or another process has the right. */
  async function claim(): Promise<{ readonly record: MailRecord; readonly version: string } | null> {
    const nowMs = clock.now().getTime();
    const changed = await changeRecord(
      stateStore,
      { key, schema: recordSchema },
      (found) => {
        const dueMs = found === null ? 0 : Date.parse(found.value.due);
        if (nowMs < dueMs) return { keep: dueMs };
        const record: MailRecord = {
          due: new Date(nowMs + claimMs).toISOString(),
          begun: found?.value.begun ?? new Date(nowMs).toISOString(),
          sent_to: found?.value.sent_to ?? [],
        };
        return { write: record, result: record };
      },
      { tries: 1 },
    );
    if (changed === null) return null;
    if ('kept' in changed) {
      quietUntilMs = Math.min(changed.kept, nowMs + putOffMs);
      return null;
    }
    return { record: changed.result, version: changed.version };
  }

  /** A refused recipient counts as sent to: the others must not get the mail again. */
  async function sendAll(
    message: ReturnType<typeof paymentReviewsMessage>,
    { begun, sent_to }: MailRecord,
    signal: AbortSignal,
  ): Promise<{ readonly sentTo: number[]; readonly failure: Error | null }> {
    const within = limitedSignal(signal, mailMs);
    const sentTo = [...sent_to];
    let failure: Error | null = null;
    const sending = deps.recipients.map(async (to, place) => {
      if (sent_to.includes(place)) return;
      const id = reactionCommandId(`${begun}/${place}`, key);
      try {
        await deps.mailer.send({ id, to, ...message }, within, () => Promise.resolve());
      } catch (error) {
        if (!(error instanceof MailRefused)) {
          failure = error instanceof Error ? error : new Error('the mail was not sent');
          return;
        }
        deps.onRefused(error);
      }
      sentTo.push(place);
    });
    await Promise.all(sending);
    return { sentTo, failure };
  }
}
