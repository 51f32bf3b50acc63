import type { Holdings } from './holdings.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';

export interface EndGivenAccessInput {
  readonly userId: string;
}

/**
 * Ends the access to projects that an account has given, where the account may not be trusted:
 * src/areas/accounts/commands/README.md#proof-of-an-address, src/areas/accounts/README.md#bans. After CredentialsVoided, all that it gave before it. While the
 * account is banned, its API keys and invitations. It does nothing otherwise. Every step is idempotent.
 * @throws StoreUnavailable
 */
export type EndGivenAccess = (input: EndGivenAccessInput, context: CommandContext) => Promise<void>;

export function makeEndGivenAccess({
  handler,
  holdings,
}: Pick<AccountDeps, 'handler'> & {
  readonly holdings: Holdings;
}): EndGivenAccess {
  return async ({ userId }, context) => {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered') return;
    const { voidedAt, banned } = user;
    if (voidedAt !== null) await holdings.endGiven({ userId, until: voidedAt, members: 'end' }, context);
    if (banned) await holdings.endGiven({ userId, until: null, members: 'stay' }, context);
  };
}
