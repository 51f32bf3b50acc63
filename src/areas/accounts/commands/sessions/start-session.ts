import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { loadOfNew } from '../../../../event-sourcing/deciding/command-handler.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import type { AuthenticationMethod } from '../../domain/session/events.js';
import { rejectSession } from '../../domain/session/rejections.js';
import { sessionAggregate } from '../../domain/session/session.js';
import { startedSession } from '../../domain/session/state.js';
import { KeyDestroyed } from '../../../../keys/sealing/errors.js';
import { firstGeneration } from '../../../../keys/codes/refresh-tokens.js';
import { makeSessionTokens, type TokenPair } from './session-tokens.js';

/** Lifetimes of an unused refresh token and of a session, in seconds (src/areas/accounts/README.md#rules-of-an-account). */
export const refreshIdleSeconds = 14 * 86_400;
export const sessionSeconds = 90 * 86_400;

export interface SessionInput {
  readonly userId: string;
  /** The user's session epoch. */
  readonly epoch: number;
  readonly methods: readonly AuthenticationMethod[];
  /** In canonical spelling; null where there is none, for example on the command line. */
  readonly clientIp: string | null;
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
  /** The device that the account knows; a new one when left out. */
  readonly deviceId?: string | undefined;
}

export interface Started {
  readonly tokens: TokenPair;
  /** The device of the session. */
  readonly deviceId: string;
}

/** Starts a session of an authenticated user. A repeated command returns tokens of the same session. */
export type StartSession = (input: SessionInput, context: CommandContext) => Promise<Started>;

export function makeStartSession({
  handler,
  sealer,
  digests,
  refreshTokens,
  accessTokens,
}: Pick<AccountDeps, 'handler' | 'sealer' | 'digests' | 'refreshTokens' | 'accessTokens'>): StartSession {
  const sessionTokens = makeSessionTokens({ accessTokens });
  return async ({ userId, epoch, methods, clientIp, userAgent, ...given }, context) => {
    const sessionId = derivedId(context, 'session');
    const issued = refreshTokens.issue(sessionId);
    const start = {
      user_id: userId,
      epoch,
      amr: [...methods],
      auth_time: context.time.toISOString(),
      refresh_generation: issued.generation,
      refresh_key_id: issued.kid,
      refresh_token_digest: issued.digest,
      idle_expires_at: secondsAfter(context.time, refreshIdleSeconds),
      expires_at: secondsAfter(context.time, sessionSeconds),
      client_ip_digest: clientIp === null ? null : digests.ip(clientIp),
      device_id: given.deviceId ?? derivedId(context, 'device'),
      user_agent: userAgent === null ? null : await sealFor(userId, userAgent),
    };
    const target = { aggregate: sessionAggregate, id: sessionId };
    await handler.handle(target, { type: 'Start', start }, context, loadOfNew(context));
    // An earlier attempt may have used another key: the log names the key of the session's token.
    const { state } =
      context.isUnique === true
        ? { state: startedSession(start, context.time) }
        : await handler.load(sessionAggregate, sessionId);
    if (state.status !== 'started') return rejectSession('session_not_found', 'the session has been ended');
    if (state.refresh.generation !== firstGeneration) {
      rejectSession('refresh_token_superseded', 'the session has been refreshed since it began');
    }
    const refresh = refreshTokens.issue(sessionId, state.refresh.keyId);
    const { deviceId } = state;
    const tokens = await sessionTokens(
      { sessionId, session: state, refreshToken: refresh.token },
      context.time,
    );
    return { tokens, deviceId };
  };

  async function sealFor(userId: string, userAgent: string): Promise<Sealed | null> {
    try {
      return await sealer.seal({ kind: 'person', userId }, 'user_agent', userAgent);
    } catch (error) {
      // The user is being erased: the next request of the session is refused.
      if (error instanceof KeyDestroyed) return null;
      throw error;
    }
  }
}

function secondsAfter(time: Date, seconds: number): string {
  return new Date(time.getTime() + seconds * 1_000).toISOString();
}
