import type { AccountDeps } from '../../deps.js';
import type { StartedSession } from '../../domain/session/session.js';

/** `tokens` of src/areas/accounts/README.md#rules-of-an-account; times in seconds. */
export type TokenPair = {
  readonly access_token: string;
  readonly refresh_token: string;
  readonly token_type: 'Bearer';
  readonly expires_in: number;
  readonly refresh_expires_in: number;
};

/** Makes the tokens of a session from its state in the log and its refresh token. */
export type SessionTokens = (
  of: { readonly sessionId: string; readonly session: StartedSession; readonly refreshToken: string },
  now: Date,
) => Promise<TokenPair>;

export function makeSessionTokens({ accessTokens }: Pick<AccountDeps, 'accessTokens'>): SessionTokens {
  return async ({ sessionId, session, refreshToken }, now) => {
    const { userId, authenticatedAt, methods, expiresAt, refresh } = session;
    const access = await accessTokens.sign({ userId, sessionId, authenticatedAt, methods });
    // A refresh token ends with its session.
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
