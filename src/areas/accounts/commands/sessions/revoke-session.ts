import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { rejectSession } from '../../domain/session/rejections.js';
import { sessionAggregate } from '../../domain/session/session.js';

/**
 * Ends a session of a user; a repetition changes nothing. When it resolves, every later request of it is refused.
 * @throws CommandRejected session_not_found, also for a session of another user
 */
export type RevokeSession = (
  input: { readonly userId: string; readonly sessionId: string },
  context: CommandContext,
) => Promise<void>;

export function makeRevokeSession({ handler }: Pick<AccountDeps, 'handler'>): RevokeSession {
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
