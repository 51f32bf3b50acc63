import type { StartedSession } from '../domain/session/session.js';
import type { AccessTokens } from '../security/access-tokens.js';

/** `tokens` of DESIGN 4.1; times in seconds. */
export type TokenPair = {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly refresh_expires_in: number;
};

/** The tokens of a session as it stands in the log: what it says of its user, and a refresh token that it knows. */
export type SessionTokens = (
  of: { readonly sessionId: string; readonly session: StartedSession; readonly refreshToken: string },
  now: Date,
) => Promise<TokenPair>;

export function makeSessionTokens({
  accessTokens,
}: {
  readonly accessTokens: Pick<AccessTokens, 'sign'>;
}): SessionTokens {
  return async ({ sessionId, session, refreshToken }, now) => {
    const { userId, authenticatedAt, methods, expiresAt, refresh } = session;
    const access = await accessTokens.sign({ userId, sessionId, authenticatedAt, methods });
    // A refresh token is good for nothing once its session has ended.
    const endsAtMs = Math.min(refresh.idleExpiresAt.getTime(), expiresAt.getTime());
    return {
      access_token: access.token,
      refresh_token: refreshToken,
      token_type: 'Bearer',
      expires_in: access.expiresInSeconds,
      refresh_expires_in: Math.max(1, Math.floor((endsAtMs - now.getTime()) / 1_000)),
    };
  };
}
