import { sessionAggregate } from '../../domain/session/session.js';
import { derivedId } from '../../event-sourcing/deciding/ids.js';
import type { Deps } from '../deps.js';
import type { StartSession } from './start-session.js';

export const sessionsMax = 50;

/**
 * Makes a `StartSession` that leaves a user at most 50 sessions: the one that was used least recently ends, with the
 * reason `session_limit`. It looks after the start, so of sign-ins that race the last one sees the sessions of all.
 */
export function makeLimitSessions({
  handler,
  sessions,
  startSession,
}: Pick<Deps, 'handler' | 'sessions'> & { readonly startSession: StartSession }): StartSession {
  return async (input, context) => {
    const tokens = await startSession(input, context);
    const own = derivedId(context, 'session');
    for (const id of await sessions.leastUsed(input.userId, {
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
    return tokens;
  };
}
