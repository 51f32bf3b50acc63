import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { KeyMissing } from './errors.js';
import type { Keyring } from './keyring.js';

/** The generation of a session's first token. */
export const firstGeneration = 1;

/** What stands in a token. */
export interface RefreshTokenFields {
  readonly sessionId: string;
  readonly generation: number;
  readonly kid: string;
}

/** A token for the client, and what the event keeps of it. */
export interface IssuedRefreshToken extends RefreshTokenFields {
  readonly token: string;
  /** See `RefreshTokens.digest`. */
  readonly digest: string;
}

/**
 * Refresh tokens (DESIGN 3): `r1.<session id>.<generation>.<key id>.<link>.<mac>`. The link is the SHA-256 of the
 * predecessor (of nothing in the first generation; see `issueLinked`), the mac HMAC-SHA-256 over all before it. A token is a
 * function of key, session, generation and link alone, so a successor can be recomputed and is never stored.
 */
export interface RefreshTokens {
  /**
   * A session's first token.
   * @param kid the key that an earlier try recorded; the active one when left out
   * @throws KeyMissing
   */
  issue(sessionId: string, kid?: string): IssuedRefreshToken;
  /**
   * The successor of a token that `verify` accepted.
   * @param kid the key that the rotation recorded, to recompute its successor; the active one when left out
   * @throws KeyMissing
   */
  derive(presented: string, kid?: string): IssuedRefreshToken;
  /**
   * A token that comes without its predecessor having been presented, as when a session is strengthened.
   * @param link stands where the predecessor's SHA-256 would: 43 characters of base64url
   * @param kid the key that the event recorded, to recompute the token; the active one when left out
   * @throws KeyMissing
   */
  issueLinked(sessionId: string, generation: number, link: string, kid?: string): IssuedRefreshToken;
  /** Whether we made it: the fields, or null. Whether it is current is for the session to say. Constant time. */
  verify(token: string): RefreshTokenFields | null;
  /** SHA-256 of the token, 64 lower-case hexadecimal digits: what the event keeps. */
  digest(token: string): string;
}

const tokenPattern =
  /^r1\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9][0-9]{0,8})\.([A-Za-z0-9-]{1,32})\.([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{43})$/;

/** @param keys `REFRESH_KEYS` */
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
    // Compared as text, so that only the one spelling of the mac passes.
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
