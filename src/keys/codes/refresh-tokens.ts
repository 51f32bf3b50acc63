import { hash } from 'node:crypto';
import type { Keyring } from '../rings/keyring.js';
import { countField, kidField, makeMacTokens, sha256Field, uuidField } from './mac-tokens.js';

/** The generation of a session's first token. */
export const firstGeneration = 1;

/** The fields of a token. */
interface RefreshTokenFields {
  readonly sessionId: string;
  readonly generation: number;
  readonly kid: string;
}

/** A token for the client, and the fields that the event keeps. */
interface IssuedRefreshToken extends RefreshTokenFields {
  readonly token: string;
  /** See `RefreshTokens.digest`. */
  readonly digest: string;
}

/**
 * Makes and verifies refresh tokens (src/keys/README.md#refresh-tokens): `r1.<session id>.<generation>.<key
 * id>.<link>.<mac>`. The link is the SHA-256 of the predecessor, in the first generation of the empty text (see
 * `issueLinked` for the exception). The mac is HMAC-SHA-256 over all fields before it. A token is a function of key,
 * session, generation and link alone, so the service can compute a successor again and never stores it.
 */
export type RefreshTokens = ReturnType<typeof makeRefreshTokens>;

/** Makes the refresh tokens. @param keys `REFRESH_KEYS` */
export function makeRefreshTokens(keys: Keyring) {
  const tokens = makeMacTokens(keys, {
    ...{ prefix: 'r1', purpose: null },
    fields: { sessionId: uuidField, generation: countField, kid: kidField, link: sha256Field },
  });

  function make(sessionId: string, generation: number, link: string, kid: string): IssuedRefreshToken {
    const token = tokens.issue({ sessionId, generation, kid, link });
    return { sessionId, generation, kid, token, digest: digest(token) };
  }

  function verify(token: string): RefreshTokenFields | null {
    const found = tokens.verify(token);
    if (found === null) return null;
    return { sessionId: found.sessionId, generation: Number(found.generation), kid: found.kid };
  }

  return {
    /** Makes a first token with the key that an earlier attempt recorded, or the active one. @throws KeyMissing */
    issue: (sessionId: string, kid?: string) =>
      make(sessionId, firstGeneration, linkTo(''), kid ?? keys.active().kid),
    /** Makes a verified token's successor with the key that a rotation recorded, or the active one. @throws KeyMissing */
    derive: (presented: string, kid?: string): IssuedRefreshToken => {
      const fields = verify(presented);
      if (fields === null) throw new TypeError('only a verified refresh token has a successor');
      return make(fields.sessionId, fields.generation + 1, linkTo(presented), kid ?? keys.active().kid);
    },
    /**
     * Makes a token when no client has presented the predecessor, for example when a session is strengthened.
     * @param link 43 characters of base64url instead of the predecessor's SHA-256
     * @throws KeyMissing
     */
    issueLinked: (sessionId: string, generation: number, link: string, kid?: string) =>
      make(sessionId, generation, link, kid ?? keys.active().kid),
    /** Returns the fields of a token that this service made, or null, in constant time. The token may not be current. */
    verify,
    /** Returns the SHA-256 of the token, 64 lower-case hexadecimal digits. The event keeps it. */
    digest,
  };
}

function digest(token: string): string {
  return hash('sha256', token, 'hex');
}

function linkTo(predecessor: string): string {
  return hash('sha256', predecessor, 'base64url');
}
