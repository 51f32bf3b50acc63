import type { Digests } from '../keys/digests.js';
import type { RandomBytes } from '../keys/random-bytes.js';
import { makeRecoveryCodes, parseRecoveryCode } from '../security/recovery-codes.js';

/** New recovery codes, and the keyed digests that are kept of them. */
export type IssueRecoveryCodes = (userId: string) => {
  readonly codes: readonly string[];
  readonly digests: readonly string[];
};

export function makeIssueRecoveryCodes({
  digests,
  randomBytes,
}: {
  readonly digests: Pick<Digests, 'recoveryCode'>;
  readonly randomBytes: RandomBytes;
}): IssueRecoveryCodes {
  return (userId) => {
    const codes = makeRecoveryCodes(randomBytes);
    return {
      codes,
      // Of the one spelling that a typed code is brought into.
      digests: codes.map((code) => digests.recoveryCode(userId, parseRecoveryCode(code) ?? code)),
    };
  };
}
