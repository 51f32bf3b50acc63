import type { Deps } from '../deps.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { checkAddress } from '../shared/check-address.js';
import type { FindAccount } from '../shared/find-account.js';

/** Finds the account that an operator names by its address. @throws CommandRejected invalid_request, user_not_found */
export type AccountByAddress = (
  email: string,
) => Promise<{ readonly userId: string; readonly emailDigest: string }>;

export function makeAccountByAddress({
  findAccount,
  digests,
}: Pick<Deps, 'digests'> & {
  readonly findAccount: FindAccount;
}): AccountByAddress {
  return async (email) => {
    const emailDigest = digests.email(checkAddress(email).canonical);
    const account = await findAccount(emailDigest);
    if (account === null) return rejectUser('user_not_found', 'there is no account with this address');
    return { userId: account.userId, emailDigest };
  };
}
