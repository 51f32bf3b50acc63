import type { FindAccount } from './find-account.js';

/** The user who has proved that the address is theirs, as the log has it right now; null when nobody has. */
export type VerifiedHolder = (emailDigest: string) => Promise<string | null>;

export function makeVerifiedHolder({ findAccount }: { readonly findAccount: FindAccount }): VerifiedHolder {
  return async (emailDigest) => {
    const account = await findAccount(emailDigest);
    return account?.user.emailVerified === true ? account.userId : null;
  };
}
