import {
  decideBy,
  defineAggregate,
  type Evolving,
} from '../../../../event-sourcing/deciding/command-handler.js';
import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';
import { type EmailEvent, emailEvents } from './events.js';

/** `address_reserved`: the reservation is not the one that the caller judged. */
export type EmailRejection = 'address_reserved';

/** The reservation of an address. The user's stream says whether it counts (src/areas/accounts/README.md#unique-address). */
export type EmailState =
  | { readonly status: 'free' }
  | {
      readonly status: 'reserved';
      readonly user_id: string;
      /** The change of address that it was made for; null: a registration. */
      readonly change_id: string | null;
      /** The revision of EmailReserved: only this distinguishes two reservations of one user. */
      readonly revision: bigint;
      /** The store's recorded time. */
      readonly reservedAt: Date;
    };

export type EmailCommand =
  | {
      readonly type: 'Reserve';
      readonly userId: string;
      readonly change_id: string | null;
      /** The revision of the reservation that no longer counts; null: the address was free. */
      readonly replaces: bigint | null;
    }
  /** Ends only the reservation of this revision. */
  | { readonly type: 'Release'; readonly revision: bigint };

const initialState: EmailState = { status: 'free' };

function evolve(_state: EmailState, event: Evolving<EmailEvent>): EmailState {
  switch (event.type) {
    case 'EmailReserved':
      return { status: 'reserved', ...event.data, revision: event.revision, reservedAt: event.recordedAt };
    case 'EmailReleased':
      return { status: 'free' };
  }
}

const decide = decideBy<EmailCommand, EmailState, EmailEvent>({
  Reserve: ({ userId, change_id, replaces }, state) => {
    if (state.status === 'reserved') {
      if (state.user_id === userId && state.change_id === change_id) return [];
      // This includes the user's reservation for another change: another process may have judged that it does not count,
      // and would replace it while the user relies on it.
      if (state.revision !== replaces)
        throw new CommandRejected<EmailRejection>(
          'address_reserved',
          'another reservation of the address has been made meanwhile',
        );
    }
    return [{ type: 'EmailReserved', data: { user_id: userId, change_id } }];
  },
  Release: (command, state) => {
    if (state.status === 'free' || state.revision !== command.revision) return [];
    return [{ type: 'EmailReleased', data: { user_id: state.user_id } }];
  },
});

export const emailAggregate = defineAggregate(emailEvents, { initialState, decide, evolve });
