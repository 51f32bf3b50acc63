import { sessionAggregate } from '../../domain/session/session.js';
import { StoreUnavailable } from '../../../../event-sourcing/ports/errors.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { AccountDeps } from '../../deps.js';
import type { StartSession } from './start-session.js';

export const sessionsMax = 50;

/**
 * Makes a `StartSession` that leaves a user at most 50 sessions: the one that was used least recently ends, with the
 * reason `session_limit`. It looks after the start, so of sign-ins that race the last one sees the sessions of all.
 * A store that fails then leaves the surplus to the next sign-in, because the session has started.
 */
export function makeLimitSessions({
  handler,
  sessions,
  startSession,
  onFailure,
}: Pick<AccountDeps, 'handler' | 'sessions' | 'onFailure'> & {
  readonly startSession: StartSession;
}): StartSession {
  return async (input, context) => {
    const started = await startSession(input, context);
    try {
      await endSurplus(input.userId, context);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      onFailure('the sessions beyond the limit were not ended; the next sign-in does so', error);
    }
    return started;
  };

  async function endSurplus(userId: string, context: CommandContext): Promise<void> {
    const own = derivedId(context, 'session');
    for (const id of await sessions.leastUsed(userId, {
      keep: sessionsMax,
      not: own,
      now: context.time,
    })) {
      await handler.handle(
        { aggregate: sessionAggregate, id },
        { type: 'Revoke', reason: 'session_limit' },
        context,
        { revokesAccess: true },
      );
    }
  }
}
