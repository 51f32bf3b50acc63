import type { Holdings } from './holdings.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';
import type { FinishErasure } from './finish-erasure.js';

export interface EraseUserInput {
  readonly userId: string;
}

/**
 * Deletes an account and the projects that have no other member (src/areas/accounts/README.md#erasure). When it resolves, every later
 * request by the user's sessions and API keys is refused. A repetition changes nothing.
 * @throws CommandRejected user_not_found; project_has_members where a project with other members would lose its
 * owner or its payer
 */
export type EraseUser = (input: EraseUserInput, context: CommandContext) => Promise<void>;

export function makeEraseUser({
  handler,
  holdings,
  finishErasure,
}: Pick<AccountDeps, 'handler'> & {
  readonly holdings: Holdings;
  readonly finishErasure: FinishErasure;
}): EraseUser {
  return async ({ userId }, context) => {
    await holdings.deleteOwnedAlone(userId, context);
    const target = { aggregate: userAggregate, id: userId };
    await handler.handle(target, { type: 'Erase' }, context, { revokesAccess: true });
    // From here on, a reaction completes the erasure if this process crashes.
    await finishErasure({ userId }, context);
  };
}
