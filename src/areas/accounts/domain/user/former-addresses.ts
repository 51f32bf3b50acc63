import type { Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import type { UserEvent } from './events.js';
import type { UserFields } from './fold.js';

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

type Addresses = AddressHistory & Pick<UserFields, 'email' | 'email_digest' | 'email_verified'>;

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

/** Returns the changes of the state by an event about addresses that the user had. @param user before the event */
export function formerAfter(
  user: Addresses,
  event: Evolving<
    Extract<UserEvent, { type: 'EmailChanged' | 'EmailChangeReverted' | 'FormerAddressLapsed' }>
  >,
): AddressHistory {
  const former = user.formerAddresses;
  switch (event.type) {
    case 'EmailChanged':
      return { formerAddresses: afterChange(user, event), lastRevert: null };
    case 'EmailChangeReverted': {
      const undone = former.findIndex(({ change_id }) => change_id === event.data.change_id);
      const lastRevert = former[undone] ?? null;
      return { formerAddresses: undone < 0 ? former : former.slice(0, undone), lastRevert };
    }
    case 'FormerAddressLapsed':
      return {
        formerAddresses: former.filter(({ change_id }) => change_id !== event.data.change_id),
        lastRevert: user.lastRevert,
      };
  }
}

function afterChange(
  { formerAddresses, email, email_digest, email_verified: verified }: Addresses,
  { data, recordedAt: changedAt }: Evolving<Extract<UserEvent, { type: 'EmailChanged' }>>,
): readonly FormerAddress[] {
  const returned = formerAddresses.findIndex((former) => former.email_digest === data.email_digest);
  const kept = returned < 0 ? formerAddresses : formerAddresses.slice(0, returned);
  if (data.revert === null) return kept;
  const { code_key_id, until } = data.revert;
  const left = { change_id: data.change_id, email, email_digest, verified, changedAt };
  return [...kept, { ...left, code_key_id, until: new Date(until) }];
}
