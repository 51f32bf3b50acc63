import type { AccountDeps } from '../../deps.js';
import { makeRecoveryCodes, parseRecoveryCode } from '../../../../security/tokens/recovery-codes.js';

/** Makes recovery codes, and the keyed digests of them that the log keeps. */
export type IssueRecoveryCodes = (userId: string) => {
  readonly codes: readonly string[];
  readonly digests: readonly string[];
};

export function makeIssueRecoveryCodes({
  digests,
  randomBytes,
}: Pick<AccountDeps, 'digests' | 'randomBytes'>): IssueRecoveryCodes {
  return (userId) => {
    const codes = makeRecoveryCodes(randomBytes);
    return {
      codes,
      // The digests are of the spelling that `parseRecoveryCode` makes of a typed code.
      digests: codes.map((code) => digests.recoveryCode(userId, parseRecoveryCode(code) ?? code)),
    };
  };
}
