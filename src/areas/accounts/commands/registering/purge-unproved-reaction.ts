import { userCategory, userCodec, type UserEvent } from '../../domain/user/events.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import type { AccountDeps } from '../../deps.js';
import type { PurgeUnproved } from './purge-unproved.js';

type EmailVerificationMailed = Extract<UserEvent, { type: 'EmailVerificationMailed' }>;

const dayMs = 86_400_000;

/**
 * Erases accounts without a proved address: src/areas/accounts/README.md#unproved-accounts. The time counts from the mail with the code. So an
 * account that never got one, because the service could not send mail, stays. One that has a project, a membership or an
 * order is looked at again after the same time.
 */
export function makePurgeUnprovedAccounts({
  clock,
  purgeUnproved,
  unprovedAccountDays,
}: Pick<AccountDeps, 'clock'> & {
  readonly purgeUnproved: PurgeUnproved;
  /** Whole days, at least 1. */
  readonly unprovedAccountDays: number;
}): Reaction<EmailVerificationMailed> {
  const waitMs = unprovedAccountDays * dayMs;
  return {
    name: 'purge-unproved-accounts',
    category: userCategory,
    codec: userCodec,
    types: ['EmailVerificationMailed'],
    hasTimers: true,
    asks: async (event) => {
      const now = clock.now();
      const dueAt = new Date(event.recordedAt.getTime() + waitMs);
      // The account is read only when it is due: a waiting one costs no reads.
      if (now < dueAt) return { notBefore: dueAt };
      const verdict = await purgeUnproved.judge(streamIdOf(event));
      if (verdict === 'later') return { notBefore: new Date(now.getTime() + waitMs) };
      return verdict === 'erase' ? 'yes' : 'no';
    },
    conclude: (event, context) => purgeUnproved.purge(streamIdOf(event), context),
  };
}
