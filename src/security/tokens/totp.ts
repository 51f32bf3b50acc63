import { timingSafeEqual } from 'node:crypto';
import { HOTP, Secret, TOTP } from 'otpauth';
import { crockfordCode, parseCrockfordCode, parseSixDigits } from '../../keys/codes/agent-secrets.js';
import type { RandomBytes } from '../../keys/sealing/digests.js';

const codeCount = 10;
const codeLength = 10;

/** Makes ten codes of 50 random bits as `XXXXX-XXXXX`. Events store keyed digests (`Digests.recoveryCode`) of them. */
export function makeRecoveryCodes(randomBytes: RandomBytes): readonly string[] {
  return Array.from({ length: codeCount }, () => crockfordCode(randomBytes(codeLength)));
}

/** Parses a typed code, as `parseCrockfordCode` does. Null for a text that cannot be a code. */
export function parseRecoveryCode(typed: string): string | null {
  return parseCrockfordCode(typed, codeLength);
}

/** Parameters that every authenticator app supports; some apps ignore others in the URL. */
const parameters = { algorithm: 'SHA1', digits: 6 };
const stepSeconds = 30;
/** 160 bits (RFC 4226, section 4, R6). */
const secretBytes = 20;
/** Steps by which the user's clock may be slow or fast (RFC 6238, section 5.2). */
const stepsAround = 1;

/** Makes a secret for an authenticator app: 32 characters of base32 without padding. Its caller seals it. */
export function makeTotpSecret(randomBytes: RandomBytes): string {
  return new Secret({ buffer: Uint8Array.from(randomBytes(secretBytes)).buffer }).base32;
}

/**
 * Returns the URL that apps read from a QR code (Google Authenticator, "Key Uri Format").
 * @param address the account's e-mail address, which the app shows as the name of the entry
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
 * Returns the time step (RFC 6238: 30 s since 1970) of a code: the current step or a neighbour, the later one of equal
 * codes; null for any other code. A step counts once: the caller refuses one that is not later than the last used step.
 * Compares with all steps after a match too, so that the time does not depend on it.
 * @param typed unchecked text; one that cannot be a code matches nothing
 */
export function matchTotpStep(secret: string, typed: string, now: Date): number | null {
  const code = parseSixDigits(typed);
  if (code === null) return null;
  const given = Buffer.from(code);
  const key = Secret.fromBase32(secret);
  const current = Math.floor(now.getTime() / 1_000 / stepSeconds);
  let matched: number | null = null;
  for (let step = current - stepsAround; step <= current + stepsAround; step += 1) {
    const expected = Buffer.from(HOTP.generate({ ...parameters, secret: key, counter: step }));
    if (timingSafeEqual(expected, given)) matched = step;
  }
  return matched;
}
