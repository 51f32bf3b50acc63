import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { rejectSession } from '../domain/session/rejections.js';
import { sessionAggregate } from '../domain/session/session.js';

/**
 * Ends one session of a user; one that has ended already stays so. It resolves when no request by it passes any more.
 * @throws CommandRejected session_not_found, for those of others too
 */
export type RevokeSession = (
  input: { readonly userId: string; readonly sessionId: string },
  context: CommandContext,
) => Promise<void>;

export function makeRevokeSession({ handler }: { readonly handler: CommandHandler }): RevokeSession {
  return async ({ userId, sessionId }, context) => {
    const { state } = await handler.load(sessionAggregate, sessionId);
    if (state.status === 'absent' || state.userId !== userId) {
      rejectSession('session_not_found', 'you have no such session');
    }
    await handler.handle(
      { aggregate: sessionAggregate, id: sessionId },
      { type: 'Revoke', reason: 'revoked_by_user' },
      context,
      { revokesAccess: true },
    );
  };
}
