import type { TryingClient } from '../../../../security/guessing/guard.js';
import type { AccountDeps } from '../../deps.js';
import { loadOfNew, derivedId } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { StoreUnavailable } from '../../../../event-sourcing/ports/errors.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import { firstGeneration } from '../../../../keys/codes/refresh-tokens.js';
import { whenKeyDestroyed } from '../../../shared/rejections.js';
import type { AuthenticationMethod, RevocationReason } from '../../domain/session/events.js';
import { type StartedSession, rejectSession, sessionAggregate } from '../../domain/session/session.js';
import { sessionHolds } from '../../domain/guard.js';
import { startedSession } from '../../domain/session/state.js';
import { userAggregate } from '../../domain/user/user.js';
import { loadRegistered } from '../finding.js';
import type { KnownDevices } from './known-devices.js';

/** Lifetimes of an unused refresh token and of a session, in seconds (src/areas/accounts/README.md#rules-of-an-account). */
export const refreshIdleSeconds = 14 * 86_400;
export const sessionSeconds = 90 * 86_400;
export const sessionsMax = 50;

/** `tokens` of src/areas/accounts/README.md#rules-of-an-account; times in seconds. */
export type TokenPair = {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly refresh_expires_in: number;
};

export type SessionTokens = ReturnType<typeof makeSessionTokens>;

/** Makes the tokens of a session from its state in the log and its refresh token. */
export function makeSessionTokens({ accessTokens }: Pick<AccountDeps, 'accessTokens'>) {
  return async (
    input: { readonly sessionId: string; readonly session: StartedSession; readonly refreshToken: string },
    now: Date,
  ): Promise<TokenPair> => {
    const { sessionId, session, refreshToken } = input;
    const { user_id: userId, amr: methods, refresh } = session;
    const authenticatedAt = new Date(session.auth_time);
    const access = await accessTokens.sign({ userId, sessionId, authenticatedAt, methods });
    // A refresh token ends with its session.
    const endsAtMs = Math.min(Date.parse(refresh.idle_expires_at), Date.parse(session.expires_at));
    return {
      access_token: access.token,
      refresh_token: refreshToken,
      token_type: 'Bearer',
      expires_in: access.expiresInSeconds,
      refresh_expires_in: Math.max(1, Math.floor((endsAtMs - now.getTime()) / 1_000)),
    };
  };
}

interface SessionInput {
  readonly userId: string;
  /** The user's session epoch. */
  readonly epoch: number;
  readonly methods: readonly AuthenticationMethod[];
  /** Null where there is none, for example on the command line. */
  readonly client: TryingClient | null;
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
  /** The device that the account knows; a new one when left out. */
  readonly device_id?: string | undefined;
}

export type Sessions = ReturnType<typeof makeSessions>;

/** Makes the start and the end of sessions (src/areas/accounts/README.md#sessions). */
export function makeSessions(
  deps: Pick<
    AccountDeps,
    'handler' | 'sealer' | 'digests' | 'sessions' | 'users' | 'refreshTokens' | 'accessTokens' | 'onFailure'
  > & { readonly knownDevices: Pick<KnownDevices, 'keep'> },
) {
  const { handler, sealer, digests, sessions, users, refreshTokens, accessTokens } = deps;
  const { knownDevices, onFailure } = deps;
  const sessionTokens = makeSessionTokens({ accessTokens });
  return {
    /**
     * Starts a session of an authenticated user. A repeated command returns tokens of the same session. A user keeps at most 50 sessions:
     * `leastUsed` says which one ends. It looks after the start, so of sign-ins that race the last one sees the sessions of all.
     * A store that fails then leaves the surplus to the next sign-in, because the session has started.
     */
    startSession: async (input: SessionInput, context: CommandContext) => {
      const started = await start(input, context);
      try {
        await endSurplus(input.userId, context);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        onFailure('the sessions beyond the limit were not ended; the next sign-in does so', error);
      }
      return started;
    },
    /** Returns whether a session, or the first tokens of it, have ended; not by time. */
    hasFirstEnded: async (sessionId: string): Promise<boolean> => {
      const { state: session } = await handler.load(sessionAggregate, sessionId);
      if (session.status !== 'started') return true;
      const { state: user } = await handler.load(userAggregate, session.user_id);
      const holds = user.status === 'registered' && sessionHolds(user, { id: sessionId, ...session });
      return !holds || session.refresh.refresh_generation !== firstGeneration;
    },
    /** Ends this session, or all sessions and the other devices of the user. When it resolves, every later request of them is refused. */
    logout: async (
      input: { readonly userId: string; readonly sessionId: string; readonly all: boolean },
      context: CommandContext,
    ): Promise<void> => {
      const { userId, sessionId, all } = input;
      if (!all) {
        await revoke(sessionId, 'signed_out', context);
        return;
      }
      const { epoch: before } = await loadRegistered(handler, userId);
      const command = { type: 'RevokeSessions' } as const;
      const revoking = { revokesAccess: true };
      const { documents } = await handler.handle(userAggregate.at(userId), command, context, revoking);
      await knownDevices.keep({ userId, epoch: users.epochAfter(documents), sessionId }, before);
    },
    /**
     * Ends a session of a user; a repetition changes nothing. When it resolves, every later request of it is refused.
     * @throws CommandRejected session_not_found, also for a session of another user
     */
    revokeSession: async (
      { userId, sessionId }: { readonly userId: string; readonly sessionId: string },
      context: CommandContext,
    ): Promise<void> => {
      const { state } = await handler.load(sessionAggregate, sessionId);
      if (state.status === 'absent' || state.user_id !== userId)
        rejectSession('session_not_found', 'you have no such session');
      await revoke(sessionId, 'revoked_by_user', context);
    },
  };

  async function start(
    { userId, epoch, methods, client, userAgent, ...given }: SessionInput,
    context: CommandContext,
  ): Promise<{ readonly tokens: TokenPair; readonly device_id: string }> {
    const sessionId = derivedId(context, 'session');
    const issued = refreshTokens.issue(sessionId);
    const begun = {
      user_id: userId,
      epoch,
      amr: [...methods],
      auth_time: context.time.toISOString(),
      refresh_generation: issued.generation,
      refresh_key_id: issued.kid,
      refresh_token_digest: issued.digest,
      idle_expires_at: secondsAfter(context.time, refreshIdleSeconds),
      expires_at: secondsAfter(context.time, sessionSeconds),
      client_ip_digest: client === null ? null : digests.ip(client.ip),
      device_id: given.device_id ?? derivedId(context, 'device'),
      user_agent: userAgent === null ? null : await sealFor(userId, userAgent),
    };
    const command = { type: 'Start', start: begun } as const;
    await handler.handle(sessionAggregate.at(sessionId), command, context, loadOfNew(context));
    // An earlier attempt may have used another key: the log names the key of the session's token.
    const { state: session } =
      context.isUnique === true
        ? { state: startedSession(begun, context.time) }
        : await handler.load(sessionAggregate, sessionId);
    if (session.status !== 'started') return rejectSession('session_not_found', 'the session has been ended');
    if (session.refresh.refresh_generation !== firstGeneration)
      rejectSession('refresh_token_superseded', 'the session has been refreshed since it began');
    const { token: refreshToken } = refreshTokens.issue(sessionId, session.refresh.refresh_key_id);
    const tokens = await sessionTokens({ sessionId, session, refreshToken }, context.time);
    return { tokens, device_id: session.device_id };
  }

  /** Of a user who is being erased, the next request of the session is refused. */
  async function sealFor(userId: string, userAgent: string): Promise<Sealed | null> {
    const sealing = sealer.seal({ kind: 'person', userId }, 'user_agent', userAgent);
    return sealing.catch(whenKeyDestroyed(() => null));
  }

  async function endSurplus(userId: string, context: CommandContext): Promise<void> {
    const { state: user } = await handler.load(userAggregate, userId, 'remembered');
    // The sessions of a user who is erased have ended.
    if (user.status !== 'registered') return;
    const own = derivedId(context, 'session');
    const most = { keep: sessionsMax, not: own, now: context.time };
    const surplus = await sessions.leastUsed({ ...user, id: userId }, most);
    for (const id of surplus) await revoke(id, 'session_limit', context);
  }

  async function revoke(id: string, reason: RevocationReason, context: CommandContext): Promise<void> {
    await handler.handle(sessionAggregate.at(id), { type: 'Revoke', reason }, context, {
      revokesAccess: true,
    });
  }
}

function secondsAfter(time: Date, seconds: number): string {
  return new Date(time.getTime() + seconds * 1_000).toISOString();
}
