import type { Clock } from '../event-sourcing/clock.js';
import { sessionHolds } from '../domain/session-epoch.js';
import type { AccessTokens } from '../security/access-tokens.js';
import { parseApiKey } from '../security/api-keys.js';
import type { ApiKeyCaller, SessionCaller } from './access.js';
import { unauthorized } from './credentials.js';

/** Finds out who presents a credential. Documents that cannot be read are StoreUnavailable, hence 503. */
export interface Authenticator {
  /** @throws HttpError 401 */
  session(token: string): Promise<SessionCaller>;
  /** @throws HttpError 401 */
  apiKey(key: string): Promise<ApiKeyCaller>;
}

/** What every request by session or key reads: parts of the readers of those views. @throws StoreUnavailable */
export interface AccessReaders {
  readonly sessions: {
    /** Null when it was revoked, or never existed. */
    access(sessionId: string): Promise<{
      readonly userId: string;
      readonly epoch: number;
      readonly methods: readonly string[];
      readonly authenticatedAt: Date;
      readonly strengthenedAt: Date | null;
      readonly expiresAt: Date;
    } | null>;
  };
  readonly users: {
    access(userId: string): Promise<{
      readonly epoch: number;
      readonly keptSessionId: string | null;
      readonly twoFactorEnabled: boolean;
      readonly platformRoles: readonly string[];
    } | null>;
  };
  readonly projects: {
    /** @param digest SHA-256 of the whole key, hexadecimal */
    apiKey(digest: string): Promise<{
      readonly keyId: string;
      readonly projectId: string;
      readonly scopes: readonly string[];
      readonly expiresAt: Date;
    } | null>;
  };
}

/**
 * Only the signature check may be remembered: the session and its user are read every time, so that a revoked session
 * and one of an older epoch are refused at once (DESIGN section 3, "Sessions").
 */
export function makeAuthenticator({
  accessTokens,
  readers: { sessions, users, projects },
  clock,
}: {
  readonly accessTokens: Pick<AccessTokens, 'verify'>;
  readonly readers: AccessReaders;
  readonly clock: Clock;
}): Authenticator {
  return {
    session: async (token) => {
      const verdict = await accessTokens.verify(token);
      if (!verdict.valid) {
        const expired = verdict.code === 'token_expired';
        throw unauthorized(
          expired ? 'the access token has expired' : 'the access token is not valid',
          verdict.code,
        );
      }
      const { userId, sessionId } = verdict.claims;
      const [session, user] = await Promise.all([sessions.access(sessionId), users.access(userId)]);
      const ended =
        session === null ||
        user === null ||
        session.userId !== userId ||
        !sessionHolds(user, { id: sessionId, epoch: session.epoch }) ||
        session.expiresAt <= clock.now();
      if (ended) throw unauthorized('the session has ended', 'invalid_token');
      return {
        kind: 'session',
        actor: `user:${userId}`,
        userId,
        sessionId,
        sessionEpoch: session.epoch,
        methods: session.methods,
        authenticatedAt: session.authenticatedAt,
        platformRoles: user.platformRoles,
        twoFactorEnabled: user.twoFactorEnabled,
        strengthenedAt: session.strengthenedAt,
      };
    },

    apiKey: async (key) => {
      const parsed = parseApiKey(key);
      const found = parsed === null ? null : await projects.apiKey(parsed.digest);
      if (found === null || found.expiresAt <= clock.now()) {
        throw unauthorized('the API key is not valid');
      }
      const { keyId, projectId, scopes } = found;
      return { kind: 'api_key', actor: `key:${keyId}`, keyId, projectId, scopes };
    },
  };
}
