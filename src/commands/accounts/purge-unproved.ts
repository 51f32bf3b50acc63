import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';
import type { FinishErasure } from './finish-erasure.js';

/**
 * Erases an account whose address was never proved and that has no project, membership or order
 * (docs/design.md#unproved-accounts); does nothing to any other. The caller checks its age. A banned account stays, because
 * its address would be free for another registration. @throws StoreUnavailable
 */
export type PurgeUnproved = (input: { readonly userId: string }, context: CommandContext) => Promise<void>;

export function makePurgeUnproved({
  handler,
  projects,
  orders,
  finishErasure,
}: Pick<Deps, 'handler' | 'projects' | 'orders'> & { readonly finishErasure: FinishErasure }): PurgeUnproved {
  return async ({ userId }, context) => {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered' || user.email_verified || user.banned) return;
    const owned = await Promise.all([projects.list(userId, { limit: 1 }), orders.list(userId, { limit: 1 })]);
    if (owned.some((things) => things.length > 0)) return;
    const target = { aggregate: userAggregate, id: userId };
    await handler.handle(target, { type: 'EraseUnproved' }, context, { revokesAccess: true });
    // From here on, a reaction completes the erasure if this process crashes. It does nothing to a user who has proved
    // the address meanwhile.
    await finishErasure({ userId }, context);
  };
}
