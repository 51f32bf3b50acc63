import { HOTP, Secret } from 'otpauth';

/**
 * Returns the code that an authenticator app shows at a time.
 * @param stepsAhead the number of steps after the current one
 */
export function totpCode(secret: string, now: Date, stepsAhead = 0): string {
  const counter = Math.floor(now.getTime() / 30_000) + stepsAhead;
  return HOTP.generate({ secret: Secret.fromBase32(secret), counter });
}

/** Returns six digits that differ from the code. */
export function otherThan(code: string): string {
  return code === '000000' ? '000001' : '000000';
}
