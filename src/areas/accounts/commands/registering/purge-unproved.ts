import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';
import type { Holdings } from '../account/holdings.js';
import type { FinishErasure } from '../account/finish-erasure.js';

/** Whether an account that is old enough is erased. `later`: it has a project, a membership or an order today. */
export type UnprovedVerdict = 'erase' | 'later' | 'keep';

/** Erases accounts whose address was never proved (src/areas/accounts/README.md#unproved-accounts). The caller checks their age. */
export interface PurgeUnproved {
  /** Judges an account. A banned one stays: its address would be free for another registration. */
  judge(userId: string): Promise<UnprovedVerdict>;
  /** Erases the account if it is still to be erased. A repetition changes nothing. @throws StoreUnavailable */
  purge(userId: string, context: CommandContext): Promise<void>;
}

export function makePurgeUnproved({
  handler,
  holdings,
  finishErasure,
}: Pick<AccountDeps, 'handler'> & {
  readonly holdings: Holdings;
  readonly finishErasure: FinishErasure;
}): PurgeUnproved {
  return {
    judge,
    purge: async (userId, context) => {
      if ((await judge(userId)) !== 'erase') return;
      const target = { aggregate: userAggregate, id: userId };
      await handler.handle(target, { type: 'EraseUnproved' }, context, { revokesAccess: true });
      // From here on, a reaction completes the erasure if this process crashes. Where the user has proved the address
      // meanwhile, the account exists and this does nothing.
      await finishErasure({ userId }, context);
    },
  };

  async function judge(userId: string): Promise<UnprovedVerdict> {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered' || user.email_verified || user.banned) return 'keep';
    return (await holdings.any(userId)) ? 'later' : 'erase';
  }
}
