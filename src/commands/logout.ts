import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { sessionAggregate } from '../domain/session/session.js';
import { userAggregate } from '../domain/user/user.js';

/** Ends the session that asks, or all of its user's. It resolves when no request by them passes any more. */
export type Logout = (
  input: { readonly userId: string; readonly sessionId: string; readonly all: boolean },
  context: CommandContext,
) => Promise<void>;

export function makeLogout({ handler }: { readonly handler: CommandHandler }): Logout {
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
