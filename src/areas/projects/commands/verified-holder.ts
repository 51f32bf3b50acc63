import type { FindAccount } from '../../accounts/commands/finding.js';

/** Finds the user who has verified the address, by the log; null where there is none. */
export type VerifiedHolder = (emailDigest: string) => Promise<string | null>;

export function makeVerifiedHolder({ findAccount }: { readonly findAccount: FindAccount }): VerifiedHolder {
  return async (emailDigest) => {
    const account = await findAccount(emailDigest);
    return account?.user.email_verified === true ? account.userId : null;
  };
}
