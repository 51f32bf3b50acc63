import { HOTP, Secret } from 'otpauth';

/** What an authenticator app shows, by the test's clock. @param stepsAhead of the current step */
export function totpCode(secret: string, now: Date, stepsAhead = 0): string {
  const counter = Math.floor(now.getTime() / 30_000) + stepsAhead;
  return HOTP.generate({ secret: Secret.fromBase32(secret), counter });
}

/** Six digits that are not the code. */
export function otherThan(code: string): string {
  return code === '000000' ? '000001' : '000000';
}
