import type { Clock } from '../../kit/time/clock.js';
import type { AccessReader } from '../../../projections/projects/access-reader.js';
import type { ProjectAccess } from '../../../projections/projects/projects/reader.js';
import { sessionHolds } from '../../areas/accounts/domain/guard.js';
import type { AccessTokens } from '../../security/tokens/access-tokens.js';
import { parseApiKey } from '../../security/tokens/api-keys.js';
import type { ApiKeyCaller, SessionCaller } from './access.js';
import { unauthorized } from './credentials.js';
import { makeLru } from '../../kit/lru.js';
import { type Admit, ownerOfClient } from './admission.js';

/** The caller, and the project that the path names; null: it names none, or one that does not exist. */
export interface Authenticated<Caller> {
  readonly caller: Caller;
  readonly project: ProjectAccess | null;
}

/**
 * Identifies the caller by a credential, and reads the project that the path names in the same call to the store.
 * Unreadable documents are StoreUnavailable, therefore 503. Both are admitted before that call, because a session that ends
 * during the wait must not be served after it.
 */
export interface Authenticator {
  /** @throws HttpError 401, or the errors of `admit` */
  session(token: string, at: AuthenticatedRequest): Promise<Authenticated<SessionCaller>>;
  /** Returns the project only if the key is one of its keys. @throws HttpError 401, or the errors of `admit` */
  apiKey(key: string, at: AuthenticatedRequest): Promise<Authenticated<ApiKeyCaller>>;
}

/** What a request asks for, and how it is admitted. */
export interface AuthenticatedRequest {
  /** The project that the path names. */
  readonly projectId: string | null;
  readonly client: string;
  readonly admit: Admit;
}

/** Only the check of a signature may be cached: a revoked session must end at once (src/areas/accounts/README.md#sessions). */
export function makeAuthenticator(deps: {
  readonly accessTokens: Pick<AccessTokens, 'verify'>;
  readonly access: AccessReader;
  readonly clock: Clock;
}): Authenticator {
  const { accessTokens, access, clock } = deps;
  /** A key belongs to one project. Before the first read of a key its requests count for their client. */
  const projectsOfKeys = makeLru<{ readonly id: string }>(10_000);
  return {
    session: async (token, { projectId, admit }) => {
      const verdict = await accessTokens.verify(token);
      if (!verdict.valid) {
        const expired = verdict.code === 'token_expired';
        throw unauthorized(
          expired ? 'the access token has expired' : 'the access token is not valid',
          verdict.code,
        );
      }
      const { userId, sessionId } = verdict.claims;
      const admitted = admit({ key: `user:${userId}`, credential: sessionId });
      if (admitted !== undefined) await admitted;
      const { session, user, project } = await access.session({ sessionId, userId, projectId });
      const ended =
        session === null ||
        user === null ||
        user.banned ||
        session.userId !== userId ||
        !sessionHolds(user, { id: sessionId, epoch: session.epoch }) ||
        session.expiresAt <= clock.now();
      if (ended) throw unauthorized('the session has ended', 'invalid_token');
      const caller: SessionCaller = {
        kind: 'session',
        actor: `user:${userId}`,
        userId,
        sessionId,
        sessionEpoch: session.epoch,
        emailCodeAt: session.emailCodeAt,
        platformRoles: user.platformRoles,
        factors: user.factors,
        proofs: session.proofs,
        user,
      };
      return { caller, project };
    },
    apiKey: async (key, { projectId, client, admit }) => {
      const parsed = parseApiKey(key);
      if (parsed === null) throw unauthorized('the API key is not valid');
      const ownProject = projectsOfKeys.get(parsed.digest);
      const credential = parsed.digest;
      const admitted = admit(
        ownProject === undefined
          ? ownerOfClient(client, credential)
          : { key: `project:${ownProject.id}`, credential },
      );
      if (admitted !== undefined) await admitted;
      const found = await access.apiKey(parsed.digest);
      if (found === null || found.expiresAt <= clock.now()) throw unauthorized('the API key is not valid');
      const { keyId, issuedBy, scopes, project } = found;
      projectsOfKeys.set(parsed.digest, project);
      const caller: ApiKeyCaller = {
        kind: 'api_key',
        actor: `key:${keyId}`,
        keyId,
        issuedBy,
        projectId: project.id,
        scopes,
      };
      return { caller, project: project.id === projectId ? project : null };
    },
  };
}
