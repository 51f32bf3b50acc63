import type { AccountDeps } from '../../deps.js';
import { makeRecoveryCodes, parseRecoveryCode } from '../../../../security/tokens/recovery-codes.js';
import type { RegisteredUser } from '../../domain/user/user.js';

/** Recovery codes, and the keyed digests of them that the log keeps. */
export interface MadeRecoveryCodes {
  readonly codes: readonly string[];
  readonly digests: readonly string[];
}

/** Makes recovery codes for a user. */
export type IssueRecoveryCodes = (userId: string) => MadeRecoveryCodes;

/** Returns the codes if the user has them; null where the user's events issued none, because the user had a factor. */
export function issuedCodes(
  { codes, digests }: MadeRecoveryCodes,
  { recoveryCodes }: Pick<RegisteredUser, 'recoveryCodes'>,
): readonly string[] | null {
  return digests.every((digest) => recoveryCodes.has(digest)) ? codes : null;
}

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
