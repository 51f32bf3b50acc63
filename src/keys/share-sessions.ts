import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Keyring } from './keyring.js';

/** What a visitor who gave the right password may go on with. */
export interface ShareSession {
  readonly shareId: string;
  /** Of the password that was given: another one ends the session. */
  readonly passwordGeneration: number;
  /** Whole milliseconds are kept. */
  readonly endsAt: Date;
}

/**
 * Tokens of visitors' sessions (DESIGN 4.4): `s1.<share id>.<password generation>.<end, epoch milliseconds>.<key id>.<mac>`.
 * Nothing is stored: whether the share still stands, and with that password, is for the share to say.
 */
export interface ShareSessions {
  issue(session: ShareSession): string;
  /** Whether we made it and it has not ended: what it says, or null. Constant time. */
  verify(token: string, now: Date): ShareSession | null;
}

/** Keeps these macs apart from all others that are made with the ring. */
const purpose = 'share session';

const tokenPattern =
  /^s1\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\.([1-9][0-9]{0,8})\.([1-9][0-9]{0,14})\.([A-Za-z0-9-]{1,32})\.([A-Za-z0-9_-]{43})$/;

/** @param keys `REFRESH_KEYS`: its old keys are kept for longer than any session lasts */
export function makeShareSessions(keys: Keyring): ShareSessions {
  function macOf(key: Buffer, body: string): string {
    return createHmac('sha256', key)
      .update(JSON.stringify([purpose, body]))
      .digest('base64url');
  }

  return {
    issue: ({ shareId, passwordGeneration, endsAt }) => {
      const { kid, key } = keys.active();
      const body = `s1.${shareId}.${passwordGeneration}.${endsAt.getTime()}.${kid}`;
      return `${body}.${macOf(key, body)}`;
    },

    verify: (token, now) => {
      const [, shareId, generation, end, kid, mac] = tokenPattern.exec(token) ?? [];
      if (shareId === undefined || kid === undefined || mac === undefined) return null;
      const key = keys.find(kid);
      if (key === undefined) return null;
      // Compared as text, so that only the one spelling of the mac passes.
      const expected = macOf(key, token.slice(0, -mac.length - 1));
      if (!timingSafeEqual(Buffer.from(expected), Buffer.from(mac))) return null;
      const endsAt = new Date(Number(end));
      return now < endsAt ? { shareId, passwordGeneration: Number(generation), endsAt } : null;
    },
  };
}
