import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { sessionAggregate } from '../../domain/session/session.js';
import { userAggregate } from '../../domain/user/user.js';
import { loadRegistered } from '../registering/registered-user.js';
import type { KnownDevices } from '../signing-in/known-devices.js';

/**
 * Ends this session, or all sessions and the other devices of the user. When it resolves, every later request of them is refused.
 */
export type Logout = (
  input: { readonly userId: string; readonly sessionId: string; readonly all: boolean },
  context: CommandContext,
) => Promise<void>;

export function makeLogout({
  handler,
  knownDevices,
}: Pick<AccountDeps, 'handler'> & { readonly knownDevices: Pick<KnownDevices, 'keep'> }): Logout {
  return async ({ userId, sessionId, all }, context) => {
    const options = { revokesAccess: true };
    if (all) {
      const { epoch } = await loadRegistered(handler, userId);
      const user = { aggregate: userAggregate, id: userId };
      await handler.handle(user, { type: 'RevokeSessions' }, context, options);
      await knownDevices.keep({ userId, epoch: epoch + 1, sessionId });
    } else {
      const session = { aggregate: sessionAggregate, id: sessionId };
      await handler.handle(session, { type: 'Revoke', reason: 'signed_out' }, context, options);
    }
  };
}
