import type { Clock } from '../../kit/time/clock.js';
import type { AccessReader, ProjectAccess } from '../../../projections/projects/projects/reader.js';
import type { JsonObject } from '../../event-sourcing/ports/domain-event.js';
import type { FoundDocument, Wanted } from '../../event-sourcing/views/views.js';
import { sessionHolds } from '../../areas/accounts/domain/guard.js';
import type { AccessTokens } from '../../security/tokens/access-tokens.js';
import { parseApiKey } from '../../security/tokens/api-keys.js';
import type { ApiKeyCaller, SessionCaller } from './access.js';
import { makeLru } from '../../kit/lru.js';
import { type Admit, ownerOfClient } from './admission.js';
import type { IncomingMessage } from 'node:http';
import { HttpError } from '../replies/error-codes.js';
import { hash, timingSafeEqual } from 'node:crypto';

/** The caller, and the project that the path names; null: it names none, or one that does not exist. */
export interface Authenticated<Caller> {
  readonly caller: Caller;
  readonly project: ProjectAccess | null;
  /** What the request wants besides. Of an API key it is not read. */
  readonly found?: FoundDocument;
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
  /** What it asks for, to be read in the same call. */
  readonly wanted?: Wanted<JsonObject> | null;
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
  /** One payer may have many projects. Before the first read of a key its requests count for their client. */
  const payersOfKeys = makeLru<{ readonly payerId: string }>(10_000);
  return {
    session: async (token, { projectId, wanted = null, admit }) => {
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
      const { session, user, project, found } = await access.session({
        ...{ sessionId, userId, projectId, wanted },
      });
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
      return { caller, project, found };
    },
    apiKey: async (key, { projectId, client, admit }) => {
      const parsed = parseApiKey(key);
      if (parsed === null) throw unauthorized('the API key is not valid');
      const known = payersOfKeys.get(parsed.digest);
      const credential = parsed.digest;
      const admitted = admit(
        known === undefined
          ? ownerOfClient(client, credential)
          : { key: `payer:${known.payerId}`, credential },
      );
      if (admitted !== undefined) await admitted;
      const found = await access.apiKey(parsed.digest);
      if (found === null || found.expiresAt <= clock.now()) throw unauthorized('the API key is not valid');
      const { keyId, issuedBy, scopes, project } = found;
      payersOfKeys.set(parsed.digest, { payerId: project.document.body.billed_to });
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

/** The secrets that agents may present. */
export interface KnownAgentSecrets {
  /** Returns the SHA-256 of each secret; none when no secret is configured. */
  digests(): readonly Buffer[];
  /** Resolves when the secrets have been read since the call. */
  refreshed(): Promise<void>;
}

/**
 * Checks a secret at once, or after the next reading of the secrets when no known secret matches it.
 * @throws HttpError 503 without a configured secret, 401 for a wrong one
 */
export type CheckAgentSecret = (presented: string | null) => void | Promise<void>;

/**
 * Makes the check, which compares SHA-256 digests in constant time (src/areas/nodes/README.md#peer-nodes).
 * @param onRefused counts the refusals
 */
export function makeCheckAgentSecret(
  secrets: KnownAgentSecrets,
  onRefused: (reason: 'missing' | 'wrong' | 'not_configured') => void = () => undefined,
): CheckAgentSecret {
  // Every configured secret is compared, so the time does not reveal which one matched.
  const isKnown = (digest: Buffer): boolean =>
    secrets.digests().filter((known) => timingSafeEqual(known, digest)).length > 0;
  const requireSecret = (): void => {
    if (secrets.digests().length > 0) return;
    onRefused('not_configured');
    throw new HttpError('agent_secret_not_configured', 'no agent secret is configured on this service');
  };
  const checkAgain = async (digest: Buffer): Promise<void> => {
    await secrets.refreshed();
    requireSecret();
    if (isKnown(digest)) return;
    onRefused('wrong');
    throw new HttpError('unauthorized', 'X-Agent-Secret does not match');
  };
  return (presented) => {
    if (presented === null) {
      requireSecret();
      onRefused('missing');
      throw new HttpError('unauthorized', 'X-Agent-Secret is missing');
    }
    // Node decodes header bytes as Latin-1. This restores the sent bytes, so a secret beyond ASCII matches.
    const digest = hash('sha256', Buffer.from(presented, 'latin1'), 'buffer');
    return isKnown(digest) ? undefined : checkAgain(digest);
  };
}

const charactersMax = 256;

/** Returns the client's `User-Agent`, printable ASCII and cut to 256 characters; null if it is empty. */
export function userAgentOf(request: IncomingMessage): string | null {
  const text = request.headers['user-agent']?.replace(/[^\x20-\x7e]/g, '').trim() ?? '';
  return text === '' ? null : text.slice(0, charactersMax);
}

/** What names a caller. */
type HeadersOf = Pick<IncomingMessage, 'headers'>;

/** Returns the token of `Authorization: Bearer …`; null if absent. @throws HttpError 401 for another scheme */
export function bearerToken(request: HeadersOf): string | null {
  const header = request.headers.authorization;
  if (header === undefined) return null;
  const token = /^bearer +(?<token>[\w~+/.-]+=*) *$/i.exec(header)?.groups?.['token'];
  if (token === undefined) throw unauthorized('Authorization: a Bearer token is expected');
  return token;
}

/** Returns the key of `X-API-Key`; null if the header is absent. An empty key is present and invalid. */
export function presentedApiKey(request: HeadersOf): string | null {
  return onlyValue(request.headers['x-api-key']);
}

export function presentedAgentSecret(request: HeadersOf): string | null {
  return onlyValue(request.headers['x-agent-secret']);
}

/** Node joins a repeated header with commas, so a secret that is sent twice does not match. */
function onlyValue(header: string | string[] | undefined): string | null {
  return header === undefined ? null : String(header);
}

/** @throws HttpError 403 for an API key */
export function refuseKey(caller: SessionCaller | ApiKeyCaller): SessionCaller {
  if (caller.kind === 'session') return caller;
  throw new HttpError('api_key_not_allowed', 'this cannot be done with an API key; sign in');
}

/** Returns the user and the session that act, for commands that give access. @throws HttpError 403 for an API key */
export function actingOf(caller: SessionCaller | ApiKeyCaller) {
  const { userId: actorId, sessionId: id, sessionEpoch: epoch } = refuseKey(caller);
  return { actorId, session: { id, epoch } };
}

/** Makes a 401 with the challenge that RFC 6750 requires. */
export function unauthorized(
  message: string,
  code: 'unauthorized' | 'invalid_token' | 'token_expired' = 'unauthorized',
): HttpError {
  const challenge = code === 'unauthorized' ? 'Bearer' : `Bearer error="invalid_token"`;
  return new HttpError(code, message, { headers: { 'www-authenticate': challenge } });
}
