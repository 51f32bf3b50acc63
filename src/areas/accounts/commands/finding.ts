import { z } from 'zod';
import type { AccountDeps } from '../deps.js';
import type { CommandHandler } from '../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../event-sourcing/ports/domain-event.js';
import { erased, type Sealer } from '../../../keys/sealing/sealer.js';
import { type EmailAddress, parseEmailAddress } from '../../../validation/email-address.js';
import { invalid } from '../../../validation/field-problems.js';
import { nilId } from '../../../validation/fields.js';
import { whenKeyDestroyed } from '../../shared/rejections.js';
import { emailAggregate } from '../domain/email/email.js';
import { formerAddress } from '../domain/user/former-addresses.js';
import { rejectUser } from '../domain/user/rejections.js';
import { hasAddress, type RegisteredUser, userAggregate } from '../domain/user/user.js';

/** A registered user, read up to the head of the stream. */
export type Account = { readonly userId: string; readonly user: RegisteredUser };

/**
 * Finds the account that signs in by an address (a keyed digest); null where there is none. Both cases make the same
 * store calls, so that the reply time does not reveal which addresses have an account.
 */
export type FindAccount = ReturnType<typeof makeFindAccount>;

export function makeFindAccount({ handler }: Pick<AccountDeps, 'handler'>) {
  return async (email_digest: string) => {
    const { state: reservation } = await handler.load(emailAggregate, email_digest);
    const userId = reservation.status === 'reserved' ? reservation.user_id : nilId;
    const { state: user } = await handler.load(userAggregate, userId);
    return hasAddress(user, email_digest) ? { userId, user } : null;
  };
}

type AddressedAccount = { readonly userId: string; readonly email_digest: string };

/** An account with the address that names it; null for an id. */
export type NamedAccount = AddressedAccount | { readonly userId: string; readonly email_digest: null };

const id = z.uuid().toLowerCase();

export type AccountLookup = ReturnType<typeof makeAccountLookup>;

/** Makes the look-ups of accounts that operators name. */
export function makeAccountLookup(deps: AccountDeps & { readonly findAccount: FindAccount }) {
  const { handler, digests, findAccount } = deps;
  return {
    accountByAddress,
    /**
     * Finds an account by its address, by a former address that can still be put back, or by its id.
     * @throws CommandRejected invalid_request, user_not_found
     */
    accountByName: async (addressOrId: string): Promise<NamedAccount> => {
      const parsed = id.safeParse(addressOrId.trim());
      if (!parsed.success) return (await byFormerAddress(addressOrId)) ?? accountByAddress(addressOrId);
      await loadRegistered(handler, parsed.data);
      return { userId: parsed.data, email_digest: null };
    },
  };

  /** Finds an account by its address. @throws CommandRejected invalid_request, user_not_found */
  async function accountByAddress(email: string): Promise<AddressedAccount> {
    const email_digest = digests.email(checkAddress(email).canonical);
    const account = await findAccount(email_digest);
    if (account === null) return rejectUser('user_not_found', 'there is no account with this address');
    return { userId: account.userId, email_digest };
  }

  /** The person who lost an account to another address knows only the former one, which is still reserved. */
  async function byFormerAddress(email: string): Promise<AddressedAccount | null> {
    const email_digest = digests.email(checkAddress(email).canonical);
    const { state: reservation } = await handler.load(emailAggregate, email_digest);
    if (reservation.status !== 'reserved') return null;
    const { user_id: userId } = reservation;
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered' || formerAddress(user, email_digest) === null) return null;
    return { userId, email_digest };
  }
}

/** Parses an e-mail address. @throws CommandRejected invalid_request */
export function checkAddress(email: string): EmailAddress {
  return parseEmailAddress(email) ?? invalid('email', 'must be an e-mail address such as name@example.com');
}

/** Rejects an address that the mail server cannot take, so that no code for it could arrive. @throws CommandRejected invalid_request */
export async function requireMailable(
  { cannotMail }: Pick<AccountDeps, 'cannotMail'>,
  { address }: EmailAddress,
): Promise<void> {
  if (!(await cannotMail(address))) return;
  const problem = 'must have only ASCII characters before the @, because the mail server lacks SMTPUTF8';
  invalid('email', problem, 'not_allowed');
}

/** Loads a registered user, read up to the head of the stream. @throws CommandRejected user_not_found */
export async function loadRegistered(
  handler: Pick<CommandHandler, 'load'>,
  userId: string,
): Promise<RegisteredUser> {
  const { state } = await handler.load(userAggregate, userId);
  return state.status === 'registered' ? state : rejectGone();
}

/**
 * Opens the address of a user for a mail that a member of a project causes; null where the address is not proved, because a stranger
 * may have registered it, and once the user is erased.
 */
export async function provedAddress(
  { handler, sealer }: Pick<AccountDeps, 'handler' | 'sealer'>,
  userId: string,
): Promise<string | null> {
  const { state: user } = await handler.load(userAggregate, userId);
  if (user.status !== 'registered' || !user.email_verified) return null;
  const address = await sealer.open({ kind: 'person', userId }, 'email', user.email);
  return address === erased ? null : address;
}

/** Refuses to sign a banned account in, after its credentials were right. @throws CommandRejected account_banned */
export function refuseBanned({ banned }: Pick<RegisteredUser, 'banned'>): void {
  if (banned) rejectUser('account_banned', 'the account is banned; ask those who run the service');
}

/** The name of a person's sealed value. */
type PersonField = { readonly userId: string; readonly field: string };

/** Seals a value for a person. @throws CommandRejected user_not_found once the person is erased */
export async function sealForPerson(
  sealer: Pick<Sealer, 'seal'>,
  { userId, field }: PersonField,
  text: string,
): Promise<Sealed> {
  return sealer.seal({ kind: 'person', userId }, field, text).catch(whenKeyDestroyed(rejectGone));
}

/** Opens a value that was sealed for a person. @throws CommandRejected user_not_found once the person is erased */
export async function openForPerson(
  sealer: Pick<Sealer, 'open'>,
  { userId, field }: PersonField,
  sealed: Sealed,
): Promise<string> {
  const text = await sealer.open({ kind: 'person', userId }, field, sealed);
  return text === erased ? rejectGone() : text;
}

function rejectGone(): never {
  return rejectUser('user_not_found', 'there is no such user');
}
