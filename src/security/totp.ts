import { timingSafeEqual } from 'node:crypto';
import { HOTP, Secret, TOTP } from 'otpauth';
import type { RandomBytes } from '../keys/random-bytes.js';

/** What every authenticator app understands; some ignore anything else in the URL. */
const parameters = { algorithm: 'SHA1', digits: 6 };
const stepSeconds = 30;
/** 160 bits (RFC 4226, section 4, R6). */
const secretBytes = 20;
/** Steps by which the user's clock may differ, before and after (RFC 6238, section 5.2). */
const stepsAround = 1;

const codePattern = /^[0-9]{6}$/;

/** A new secret for an authenticator app: base32 without padding, 32 characters. It is sealed before it is stored. */
export function makeTotpSecret(randomBytes: RandomBytes): string {
  return new Secret({ buffer: Uint8Array.from(randomBytes(secretBytes)).buffer }).base32;
}

/**
 * The `otpauth://` URL that apps read from a QR code (Google Authenticator, "Key Uri Format").
 * @param secret from `makeTotpSecret`
 * @param address the account's e-mail address, by which the app tells its entries apart
 */
export function totpUrl({ secret, address }: { readonly secret: string; readonly address: string }): string {
  return new TOTP({
    ...parameters,
    issuer: 'Stowage',
    label: address,
    secret,
    period: stepSeconds,
  }).toString();
}

/**
 * The time step (RFC 6238: 30 s since 1970) whose code was typed, or null when it is none of the current step's and its
 * neighbours'. A step may be used once: the caller refuses one that is not later than the last one used. Of two steps that
 * happen to have the same code it is the later. All of them are computed and compared, whichever it is.
 * @param code exactly six ASCII digits, or it matches nothing
 */
export function matchTotpStep(secret: string, code: string, now: Date): number | null {
  if (!codePattern.test(code)) return null;
  const typed = Buffer.from(code);
  const key = Secret.fromBase32(secret);
  const current = Math.floor(now.getTime() / 1_000 / stepSeconds);
  let matched: number | null = null;
  for (let step = current - stepsAround; step <= current + stepsAround; step += 1) {
    const expected = Buffer.from(HOTP.generate({ ...parameters, secret: key, counter: step }));
    if (timingSafeEqual(expected, typed)) matched = step;
  }
  return matched;
}
