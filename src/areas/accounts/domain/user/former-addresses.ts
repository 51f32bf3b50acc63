import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';

/** An address that the user had, and that can be put back (src/areas/accounts/commands/README.md#revert-of-an-address-change). */
export interface FormerAddress {
  /** The change that replaced the address. */
  readonly change_id: string;
  readonly email: Sealed;
  readonly email_digest: string;
  readonly verified: boolean;
  /** The store's recorded time of the change. */
  readonly changedAt: Date;
  /** The key of CODE_KEYS that makes the mailed code. */
  readonly code_key_id: string;
  /** The end of the code. The address stays reserved until FormerAddressLapsed. */
  readonly until: Date;
}

export interface AddressHistory {
  /** The former addresses that can be put back, oldest first. */
  readonly formerAddresses: readonly FormerAddress[];
  /** The former address that was put back last; null after a later change. */
  readonly lastRevert: FormerAddress | null;
}

/** A former address can be put back for this long, in ms. */
export const revertibleMs = 72 * 3_600_000;

/** A user changes the address at most this often while each change can be undone, so that the state stays bounded. */
export const revertibleChangesMax = 10;

/** Returns the entry of a former address that is still reserved; null where there is none. */
export function formerAddress(
  { formerAddresses }: Pick<AddressHistory, 'formerAddresses'>,
  email_digest: string,
): FormerAddress | null {
  return formerAddresses.find((former) => former.email_digest === email_digest) ?? null;
}
