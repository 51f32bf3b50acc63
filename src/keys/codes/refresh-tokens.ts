import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { KeyMissing } from '../sealing/errors.js';
import type { Keyring } from '../rings/keyring.js';

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
export interface RefreshTokens {
  /** Makes a first token with the key that an earlier attempt recorded, or the active one. @throws KeyMissing */
  issue(sessionId: string, kid?: string): IssuedRefreshToken;
  /** Makes a verified token's successor with the key that a rotation recorded, or the active one. @throws KeyMissing */
  derive(presented: string, kid?: string): IssuedRefreshToken;
  /**
   * Makes a token when no client has presented the predecessor, for example when a session is strengthened.
   * @param link 43 characters of base64url in the place of the predecessor's SHA-256
   * @throws KeyMissing
   */
  issueLinked(sessionId: string, generation: number, link: string, kid?: string): IssuedRefreshToken;
  /** Returns the fields of a token that this service made, or null, in constant time. The token may not be current. */
  verify(token: string): RefreshTokenFields | null;
  /** Returns the SHA-256 of the token, 64 lower-case hexadecimal digits. The event keeps it. */
  digest(token: string): string;
}

const tokenPattern =
  /^r1\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9][0-9]{0,8})\.([A-Za-z0-9-]{1,32})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/;

/** Makes the refresh tokens. @param keys `REFRESH_KEYS` */
export function makeRefreshTokens(keys: Keyring): RefreshTokens {
  function macOf(key: Buffer, body: string): string {
    return createHmac('sha256', key).update(body).digest('base64url');
  }

  function make(sessionId: string, generation: number, link: string, kid: string): IssuedRefreshToken {
    const key = keys.find(kid);
    if (key === undefined) throw new KeyMissing(`refresh key ${kid} is not in REFRESH_KEYS`);
    const body = `r1.${sessionId}.${generation}.${kid}.${link}`;
    const token = `${body}.${macOf(key, body)}`;
    return { sessionId, generation, kid, token, digest: digest(token) };
  }

  function verify(token: string): RefreshTokenFields | null {
    const [, sessionId, generation, kid, , mac] = tokenPattern.exec(token) ?? [];
    if (sessionId === undefined || generation === undefined || kid === undefined || mac === undefined)
      return null;
    const key = keys.find(kid);
    if (key === undefined) return null;
    // Compares text, so that only the canonical spelling of the mac passes.
    const expected = macOf(key, token.slice(0, -mac.length - 1));
    if (!timingSafeEqual(Buffer.from(expected), Buffer.from(mac))) return null;
    return { sessionId, generation: Number(generation), kid };
  }

  return {
    issue: (sessionId, kid) =>
      make(sessionId, firstGeneration, sha256('').toString('base64url'), kid ?? keys.active().kid),
    derive: (presented, kid) => {
      const fields = verify(presented);
      if (fields === null) throw new TypeError('only a verified refresh token has a successor');
      const link = sha256(presented).toString('base64url');
      return make(fields.sessionId, fields.generation + 1, link, kid ?? keys.active().kid);
    },
    issueLinked: (sessionId, generation, link, kid) =>
      make(sessionId, generation, link, kid ?? keys.active().kid),
    verify,
    digest,
  };
}

function digest(token: string): string {
  return sha256(token).toString('hex');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
