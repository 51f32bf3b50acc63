import { makeMailOutbox, type MailWaits } from '../../../src/mail/mail-outbox.js';
import type { Mailer } from '../../../src/mail/mailer.js';
import type { GivenStores } from './given-stores.js';

/** The waits of the service. */
export const mailWaits: MailWaits = { retryMs: 1_000, unknownMs: [60_000, 600_000, 3_600_000] };

/** The outbox of mails over given stores. It delivers when the test says so. */
export function givenMails(
  { stateStore, clock }: Pick<GivenStores, 'stateStore' | 'clock'>,
  mailer: Pick<Mailer, 'send'>,
) {
  const [retried, givenUp]: [string[], string[]] = [[], []];
  const mails = makeMailOutbox({
    ...{ stateStore, mailer, clock, waits: mailWaits },
    random: () => 1,
    outbox: { wake: () => undefined },
    onRetry: (_, error) => retried.push(String(error)),
    onGivenUp: ({ kind }, error) => givenUp.push(`${kind}: ${error.message}`),
  });
  const records = () => stateStore.list('outbox/mail/', { limit: 1_000 });
  return {
    ...{ mails, retried, givenUp, records },
    /** Attempts each mail that is due. */
    deliver: async () => {
      for (const { key } of await records()) await mails.lane.attempt(key, new AbortController().signal);
    },
  };
}
