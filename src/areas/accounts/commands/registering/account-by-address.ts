import { z } from 'zod';
import type { AccountDeps } from '../../deps.js';
import { emailAggregate } from '../../domain/email/email.js';
import { formerAddress } from '../../domain/user/former-addresses.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import { checkAddress } from '../address/check-address.js';
import type { FindAccount } from '../signing-in/find-account.js';
import { loadRegistered } from './registered-user.js';

interface NamedAccount {
  readonly userId: string;
  readonly emailDigest: string;
}

/** Finds the account that an operator names by its address. @throws CommandRejected invalid_request, user_not_found */
export type AccountByAddress = (email: string) => Promise<NamedAccount>;

/**
 * Finds the account that an operator names by its address, by a former address that can still be put back, or by its id.
 * @throws CommandRejected as `AccountByAddress`
 */
export type AccountByName = (addressOrId: string) => Promise<NamedAccount>;

type LookupDeps = Pick<AccountDeps, 'digests'> & { readonly findAccount: FindAccount };

export function makeAccountByAddress({ findAccount, digests }: LookupDeps): AccountByAddress {
  return async (email) => {
    const emailDigest = digests.email(checkAddress(email).canonical);
    const account = await findAccount(emailDigest);
    if (account === null) return rejectUser('user_not_found', 'there is no account with this address');
    return { userId: account.userId, emailDigest };
  };
}

const id = z.uuid().toLowerCase();

export function makeAccountByName(deps: LookupDeps & Pick<AccountDeps, 'handler'>): AccountByName {
  const { handler, digests } = deps;
  const accountByAddress = makeAccountByAddress(deps);
  return async (addressOrId) => {
    const parsed = id.safeParse(addressOrId.trim());
    if (!parsed.success) return (await byFormerAddress(addressOrId)) ?? accountByAddress(addressOrId);
    const user = await loadRegistered(handler, parsed.data);
    return { userId: parsed.data, emailDigest: user.email_digest };
  };

  /** The person who lost an account to another address knows only the former one, which is still reserved. */
  async function byFormerAddress(email: string): Promise<NamedAccount | null> {
    const emailDigest = digests.email(checkAddress(email).canonical);
    const { state: reservation } = await handler.load(emailAggregate, emailDigest);
    if (reservation.status !== 'reserved') return null;
    const { userId } = reservation;
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered' || formerAddress(user, emailDigest) === null) return null;
    return { userId, emailDigest: user.email_digest };
  }
}
