import { z } from 'zod';
import type { Clock } from '../../../../kit/time/clock.js';
import type { StateStore } from '../../../../event-sourcing/ports/state-store.js';
import { untilDueMs } from '../../../../event-sourcing/effects/outbox.js';
import { reactionCommandId } from '../../../../event-sourcing/deciding/command-handler.js';
import { changeRecord } from '../../../../event-sourcing/ports/change-record.js';
import type { MailOutbox } from '../../../../mail/mail-outbox.js';
import type { Mailbox } from '../../../../mail/mailer.js';
import { type WaitingPayment, paymentReviewsMessage } from './payment-reviews.js';

/** The time between two mails, which is also the time for which a mail may wait. */
const dayMs = 86_400_000;
/** How long a process relies on what it has read. */
const quietMs = 300_000;
const listedMax = 50;

const key = 'mail/payment-reviews';

/** Storage format of the record of the daily mail, which all processes share: the time from which the next one is due. */
const recordSchema = z.strictObject({ due: z.iso.datetime() });

interface ReviewMailDeps {
  readonly orders: {
    /** Lists the payments that wait, those of the oldest order first. */
    inReview(page: { readonly limit: number }): Promise<readonly WaitingPayment[]>;
  };
  readonly stateStore: Pick<StateStore, 'get' | 'compareAndSet'>;
  readonly mails: Pick<MailOutbox, 'add'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly publicUrl: string;
  readonly recipients: readonly Mailbox[];
}

/**
 * Requests a mail to each operator about the payments that wait, at most once in 24 hours and only while some wait. All processes
 * call it about once a minute, and share a record. The outbox lists the payments at each attempt.
 * @returns whether it requested mails @throws StoreUnavailable
 */
export function makeMailReviews({ orders, stateStore, mails, clock, publicUrl, recipients }: ReviewMailDeps) {
  const request = mails.add({
    name: 'payment-reviews',
    open: async ({ id, person, since }) => {
      const to = recipients[Number(person)];
      const isReplaced = clock.now().getTime() >= since.getTime() + dayMs;
      const found = to === undefined || isReplaced ? [] : await orders.inReview({ limit: listedMax + 1 });
      if (to === undefined || found.length === 0) return null;
      const message = paymentReviewsMessage({
        ...{ waiting: found.slice(0, listedMax), hasMore: found.length > listedMax, publicUrl },
      });
      return { mail: { id, to, ...message }, record: () => Promise.resolve() };
    },
  });
  let quietUntilMs = -Infinity;
  return async () => {
    const nowMs = clock.now().getTime();
    // Most calls end here, without a call to a store.
    // A clock that was ahead would keep the process quiet until then.
    if (nowMs < quietUntilMs && quietUntilMs <= nowMs + quietMs) return false;
    if ((await orders.inReview({ limit: 1 })).length === 0) return false;
    const changed = await changeRecord(
      stateStore,
      { key, schema: recordSchema },
      async (found) => {
        const due = found?.value.due ?? '';
        const waitMs = untilDueMs({ not_before: due }, { longestMs: dayMs }, new Date(nowMs));
        if (waitMs > 0) return { keep: nowMs + waitMs };
        // Before the record, so that a crash loses none. The ids follow from the record, so no mail is requested twice.
        for (const index of recipients.keys()) {
          await request({
            id: reactionCommandId(`${due}/${index}`, key),
            event: null,
            person: String(index),
          });
        }
        return { write: { due: new Date(nowMs + dayMs).toISOString() }, result: null };
      },
      { tries: 1 },
    );
    if (changed === null) return false;
    if ('kept' in changed) quietUntilMs = Math.min(changed.kept, nowMs + quietMs);
    return !('kept' in changed);
  };
}
