import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { sessionHolds } from '../../domain/guard.js';
import {
  type RefreshTokenState,
  type StartedSession,
  rejectSession,
  sessionAggregate,
  successorOf,
} from '../../domain/session/session.js';
import { userAggregate } from '../../domain/user/user.js';
import type { KnownDevices } from './known-devices.js';
import { type TokenPair, makeSessionTokens, refreshIdleSeconds } from './sessions.js';

/**
 * Exchanges a refresh token for its successor (src/keys/README.md#refresh-tokens). Further uses get the same successor until
 * 10 s after that was used; a later use ends the session.
 * @throws CommandRejected refresh_token_unknown, refresh_token_reused, session_over
 */
export function makeRefresh(
  deps: Pick<AccountDeps, 'handler' | 'refreshTokens' | 'accessTokens' | 'clock'> & {
    readonly knownDevices: Pick<KnownDevices, 'noteSession'>;
  },
) {
  const { handler, refreshTokens, accessTokens, clock, knownDevices } = deps;
  const sessionTokens = makeSessionTokens({ accessTokens });
  return async (
    { refreshToken: token }: { readonly refreshToken: string },
    context: CommandContext,
  ): Promise<TokenPair> => {
    const { time: now } = context;
    const fields = refreshTokens.verify(token);
    if (fields === null) return rejectSession('refresh_token_unknown', 'the refresh token is not valid');
    const { sessionId, generation } = fields;
    const presented = { generation, digest: refreshTokens.digest(token) };
    // It only tells whose session it is. The decision below sees an end that this state does not have yet.
    const before = await load(sessionId, generation, context);
    const { isProved } = await requireUser(sessionId, before);
    const successor = refreshTokens.derive(token);
    const { events } = await handler.handle(
      sessionAggregate.at(sessionId),
      {
        type: 'Refresh',
        presented,
        successor: {
          refresh_generation: successor.generation,
          refresh_key_id: successor.kid,
          refresh_token_digest: successor.digest,
          idle_expires_at: idleEnd(before, now),
        },
        now,
      },
      // The grace of the replaced token begins now: the request may have waited for long.
      { ...context, time: clock.now() },
      // No other attempt has the id of this command. A stale state of the session meets a refused append, and is read again.
      { load: 'remembered' },
    );
    if (events.some(({ type }) => type === 'RefreshTokenReuseDetected'))
      await rejectReused(sessionId, context);
    if (!isProved) await knownDevices.noteSession(before.user_id);
    // The log names the successor: another process may have been faster, or use another key. The decision has read that.
    const session = await load(sessionId, generation, context);
    const refresh = successorOf(session, presented, now);
    if (refresh === null)
      return rejectSession('refresh_token_superseded', 'the session has been refreshed many times since');
    const refreshToken =
      refresh.refresh_token_digest === successor.digest
        ? successor.token
        : recompute(token, sessionId, refresh);
    return sessionTokens({ sessionId, session: { ...session, refresh }, refreshToken }, now);
  };

  async function load(
    sessionId: string,
    generation: number,
    context: CommandContext,
  ): Promise<StartedSession> {
    const { state } = await handler.load(sessionAggregate, sessionId, 'remembered');
    if (state.status === 'started') return state;
    const reused =
      state.status === 'revoked' && state.reason === 'refresh_token_reused' && generation < state.generation;
    return reused ? rejectReused(sessionId, context) : rejectOver();
  }

  /** Rejects after the session's documents are written, so that the client can rely on the end of the session. */
  async function rejectReused(sessionId: string, context: CommandContext): Promise<never> {
    const command = { type: 'Revoke', reason: 'refresh_token_reused' } as const;
    await handler.handle(sessionAggregate.at(sessionId), command, context, { revokesAccess: true });
    return rejectSession('refresh_token_reused', 'the refresh token has been used before; sign in again');
  }

  /** Rejects a session that the user's stream has ended. The next request's authentication finds a later end. */
  async function requireUser(id: string, { user_id: userId, epoch }: StartedSession) {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered' || user.banned || !sessionHolds(user, { id, epoch }))
      return rejectOver();
    return { isProved: user.email_verified };
  }

  function recompute(
    token: string,
    sessionId: string,
    { refresh_generation, link, refresh_key_id }: RefreshTokenState,
  ): string {
    const issued =
      link === null
        ? refreshTokens.derive(token, refresh_key_id)
        : refreshTokens.issueLinked(sessionId, refresh_generation, link, refresh_key_id);
    return issued.token;
  }
}

function idleEnd({ expires_at }: StartedSession, now: Date): string {
  return new Date(Math.min(now.getTime() + refreshIdleSeconds * 1_000, Date.parse(expires_at))).toISOString();
}

function rejectOver(): never {
  return rejectSession('session_over', 'the session has ended');
}
