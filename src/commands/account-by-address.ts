import { rejectUser } from '../domain/user/rejections.js';
import type { Digests } from '../keys/digests.js';
import { checkAddress } from './check-address.js';
import type { FindAccount } from './find-account.js';

/** The account that an operator names by its address. @throws CommandRejected invalid_request, user_not_found */
export type AccountByAddress = (
  email: string,
) => Promise<{ readonly userId: string; readonly emailDigest: string }>;

export function makeAccountByAddress({
  findAccount,
  digests,
}: {
  readonly findAccount: FindAccount;
  readonly digests: Pick<Digests, 'email'>;
}): AccountByAddress {
  return async (email) => {
    const emailDigest = digests.email(checkAddress(email).canonical);
    const account = await findAccount(emailDigest);
    if (account === null) return rejectUser('user_not_found', 'there is no account with this address');
    return { userId: account.userId, emailDigest };
  };
}
