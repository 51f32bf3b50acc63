import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { sessionAggregate } from '../../domain/session/session.js';
import { userAggregate } from '../../domain/user/user.js';

/** Ends this session, or all sessions of the user. When it resolves, every later request of them is refused. */
export type Logout = (
  input: { readonly userId: string; readonly sessionId: string; readonly all: boolean },
  context: CommandContext,
) => Promise<void>;

export function makeLogout({ handler }: Pick<AccountDeps, 'handler'>): Logout {
  return async ({ userId, sessionId, all }, context) => {
    const options = { revokesAccess: true };
    if (all) {
      const user = { aggregate: userAggregate, id: userId };
      await handler.handle(user, { type: 'RevokeSessions' }, context, options);
    } else {
      const session = { aggregate: sessionAggregate, id: sessionId };
      await handler.handle(session, { type: 'Revoke', reason: 'signed_out' }, context, options);
    }
  };
}
