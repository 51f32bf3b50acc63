import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keyring } from '../rings/keyring.js';

/** The session of a visitor who gave the right password of a share. */
export interface ShareSession {
  readonly shareId: string;
  /** The access that began the session. */
  readonly accessId: string;
  /** The generation of the password that the visitor gave. A new password ends the session. */
  readonly passwordGeneration: number;
  /** The end, in whole milliseconds. */
  readonly endsAt: Date;
}

/**
 * Tokens of visitors' sessions (src/areas/shares/README.md#share-verification): `s1.<share id>.<access id>.<password generation>.<end,
 * epoch milliseconds>.<key id>.<mac>`. No store holds a session. The share decides whether that password still opens it.
 */
export interface ShareSessions {
  issue(session: ShareSession): string;
  /** Returns the session of a token of this service that has not ended, or null. It runs in constant time. */
  verify(token: string, now: Date): ShareSession | null;
}

/** Separates these macs from all others that the ring makes. */
const purpose = 'share session';

const id = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
/** The mac covers the prefix too, so no part can be left out or added. */
const tokenPattern = new RegExp(
  String.raw`^s1\.(${id})\.(${id})\.([1-9][0-9]{0,8})\.([1-9][0-9]{0,14})\.([A-Za-z0-9-]{1,32})\.([A-Za-z0-9_-]{43})$`,
);

/** Makes the tokens. @param keys `REFRESH_KEYS`: its old keys outlast every session */
export function makeShareSessions(keys: Keyring): ShareSessions {
  function macOf(key: Buffer, body: string): string {
    return createHmac('sha256', key)
      .update(JSON.stringify([purpose, body]))
      .digest('base64url');
  }

  return {
    issue: ({ shareId, accessId, passwordGeneration, endsAt }) => {
      const { kid, key } = keys.active();
      const body = `s1.${shareId}.${accessId}.${passwordGeneration}.${endsAt.getTime()}.${kid}`;
      return `${body}.${macOf(key, body)}`;
    },

    verify: (token, now) => {
      const [, shareId, accessId, generation, end, kid, mac] = tokenPattern.exec(token) ?? [];
      if (shareId === undefined || accessId === undefined || kid === undefined || mac === undefined)
        return null;
      const key = keys.find(kid);
      if (key === undefined) return null;
      // Compares text, so that only the canonical spelling of the mac passes.
      const expected = macOf(key, token.slice(0, -mac.length - 1));
      if (!timingSafeEqual(Buffer.from(expected), Buffer.from(mac))) return null;
      const endsAt = new Date(Number(end));
      return now < endsAt ? { shareId, accessId, passwordGeneration: Number(generation), endsAt } : null;
    },
  };
}
