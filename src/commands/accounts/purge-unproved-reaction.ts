import { userCategory, userCodec, type UserEvent } from '../../domain/user/events.js';
import { userAggregate } from '../../domain/user/user.js';
import { streamIdOf } from '../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../event-sourcing/reacting/reaction.js';
import type { Deps } from '../deps.js';
import type { PurgeUnproved } from './purge-unproved.js';

type EmailVerificationMailed = Extract<UserEvent, { type: 'EmailVerificationMailed' }>;

const dayMs = 86_400_000;

/**
 * Erases accounts that nobody proved: docs/design.md#unproved-accounts. The time counts from the mail with the code. So an
 * account that never got one, because the service could not send mail, stays. An account waits in this reaction until
 * then, also over restarts, because the mark stays before its event. At most 1,000 wait. All wait equally long, so no
 * later one is due earlier.
 */
export function makePurgeUnprovedAccounts({
  handler,
  clock,
  purgeUnproved,
  unprovedAccountDays,
}: Pick<Deps, 'handler' | 'clock'> & {
  readonly purgeUnproved: PurgeUnproved;
  /** Whole days, at least 1. */
  readonly unprovedAccountDays: number;
}): Reaction<EmailVerificationMailed> {
  return {
    name: 'purge-unproved-accounts',
    category: userCategory,
    codec: userCodec,
    types: ['EmailVerificationMailed'],
    asks: async (event) => {
      const dueAt = new Date(event.recordedAt.getTime() + unprovedAccountDays * dayMs);
      // The stream is read only when it is due: a waiting account costs no reads.
      if (clock.now() < dueAt) return { notBefore: dueAt };
      const { state } = await handler.load(userAggregate, streamIdOf(event));
      return state.status === 'registered' && !state.email_verified ? 'yes' : 'no';
    },
    conclude: (event, context) => purgeUnproved({ userId: streamIdOf(event) }, context),
  };
}
