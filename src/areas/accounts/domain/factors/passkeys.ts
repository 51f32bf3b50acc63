import type { Decisions } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import { type RequestSession, requireSession } from '../guard.js';
import type { UserEvent } from '../user/events.js';
import type { Passkey } from './credentials.js';
import { rejectUser } from '../user/rejections.js';
import type { RegisteredUser } from '../user/fold.js';
import { firstRecoveryCodes } from './totp.js';

/** What a registration proved about a passkey. */
type NewPasskey = Extract<UserEvent, { type: 'PasskeyRegistered' }>['data'];

export type PasskeyCommand =
  | {
      readonly type: 'RegisterPasskey';
      readonly passkey: NewPasskey;
      readonly session: RequestSession;
      /** Keyed digests, for the first factor of the account. */
      readonly recoveryCodes: readonly string[];
    }
  /** The caller has verified a signature of the passkey. */
  | {
      readonly type: 'UsePasskey';
      readonly passkey_id: string;
      readonly counter: number;
      readonly backed_up: boolean;
    }
  | { readonly type: 'RenamePasskey'; readonly passkey_id: string; readonly name: Sealed }
  | { readonly type: 'RemovePasskey'; readonly passkey_id: string; readonly session: RequestSession };

/** A user has at most this many passkeys. */
export const passkeysMax = 20;

export const passkeyDecisions: Decisions<PasskeyCommand, RegisteredUser, UserEvent> = {
  RegisterPasskey: ({ passkey, session, recoveryCodes }, user) => {
    requireSession(user, session);
    // A repetition, because the id derives from the command.
    if (user.passkeys.some(({ passkey_id }) => passkey_id === passkey.passkey_id)) return [];
    if (user.passkeys.some(({ credential_digest }) => credential_digest === passkey.credential_digest))
      rejectUser('passkey_registered_before', 'the account has this passkey already');
    if (user.passkeys.length >= passkeysMax)
      rejectUser('passkey_limit_reached', `an account has at most ${passkeysMax} passkeys; remove one first`);
    return [{ type: 'PasskeyRegistered', data: passkey }, ...firstRecoveryCodes(recoveryCodes, user)];
  },
  UsePasskey: ({ passkey_id, counter, backed_up }, user) => {
    const data = { passkey_id, counter };
    // WebAuthn Level 3, section 6.1.1: a counter that does not rise may be that of a copy. A synced passkey has copies.
    const { counter: known, synced } = owned(user, passkey_id);
    return synced || counter > known || (counter === 0 && known === 0)
      ? [{ type: 'PasskeyUsed', data: { ...data, backed_up } }]
      : [{ type: 'PasskeyCounterRegressed', data }];
  },
  RenamePasskey: ({ passkey_id, name }, user) => {
    if (owned(user, passkey_id).name === name) return [];
    return [{ type: 'PasskeyRenamed', data: { passkey_id, name } }];
  },
  RemovePasskey: ({ passkey_id, session }, user) => {
    requireSession(user, session);
    owned(user, passkey_id);
    return [passkeyRemoved(passkey_id)];
  },
};

export function passkeyRemoved(passkey_id: string): UserEvent {
  return { type: 'PasskeyRemoved', data: { passkey_id } };
}

function owned({ passkeys }: RegisteredUser, id: string): Passkey {
  const found = passkeys.find(({ passkey_id }) => passkey_id === id);
  return found ?? rejectUser('passkey_not_found', 'you have no such passkey');
}
