import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import { sessionHolds } from '../session-epoch.js';
import type { UserEvent } from '../user/events.js';
import type { Passkey } from './passkey-state.js';
import { rejectUser } from '../user/rejections.js';
import type { RegisteredUser } from '../user/state.js';
import { firstRecoveryCodes } from './totp.js';

/** What a registration proved about a passkey. */
export interface NewPasskey {
  readonly passkeyId: string;
  /** Keyed digest of the credential's id. */
  readonly credential_digest: string;
  readonly credential: Sealed;
  readonly counter: number;
  readonly transports: readonly string[];
  readonly synced: boolean;
  readonly backed_up: boolean;
  readonly aaguid: string;
  readonly name: Sealed;
}

export type PasskeyCommand =
  | {
      readonly type: 'RegisterPasskey';
      readonly passkey: NewPasskey;
      /** The caller's session: a passkey of a session that has ended meanwhile would outlive the end. */
      readonly session: { readonly id: string; readonly epoch: number };
      /** Keyed digests, for the first factor of the account. */
      readonly recoveryCodes: readonly string[];
    }
  /** The caller has verified a signature of the passkey. */
  | {
      readonly type: 'UsePasskey';
      readonly passkeyId: string;
      readonly counter: number;
      readonly backed_up: boolean;
    }
  | { readonly type: 'RenamePasskey'; readonly passkeyId: string; readonly name: Sealed }
  | { readonly type: 'RemovePasskey'; readonly passkeyId: string };

/** A user has at most this many passkeys. */
export const passkeysMax = 20;

export function decidePasskey(command: PasskeyCommand, user: RegisteredUser): readonly UserEvent[] {
  switch (command.type) {
    case 'RegisterPasskey':
      return register(command, user);
    case 'UsePasskey': {
      const { passkeyId, counter, backed_up } = command;
      const data = { passkey_id: passkeyId, counter };
      // WebAuthn Level 3, section 6.1.1: a counter that does not rise may be that of a copy. A synced passkey has copies.
      const { counter: known, synced } = owned(user, passkeyId);
      return synced || counter > known || (counter === 0 && known === 0)
        ? [{ type: 'PasskeyUsed', data: { ...data, backed_up } }]
        : [{ type: 'PasskeyCounterRegressed', data }];
    }
    case 'RenamePasskey': {
      const { passkeyId, name } = command;
      if (owned(user, passkeyId).name === name) return [];
      return [{ type: 'PasskeyRenamed', data: { passkey_id: passkeyId, name } }];
    }
    case 'RemovePasskey':
      owned(user, command.passkeyId);
      return [passkeyRemoved(command.passkeyId)];
  }
}

export function passkeyRemoved(passkeyId: string): UserEvent {
  return { type: 'PasskeyRemoved', data: { passkey_id: passkeyId } };
}

function register(
  { passkey, session, recoveryCodes }: Extract<PasskeyCommand, { type: 'RegisterPasskey' }>,
  user: RegisteredUser,
): readonly UserEvent[] {
  if (!sessionHolds(user, session)) rejectUser('session_ended', 'the session has ended');
  // A repetition, because the id derives from the command.
  if (user.passkeys.some(({ passkeyId }) => passkeyId === passkey.passkeyId)) return [];
  if (user.passkeys.some(({ credential_digest }) => credential_digest === passkey.credential_digest)) {
    rejectUser('passkey_registered_before', 'the account has this passkey already');
  }
  if (user.passkeys.length >= passkeysMax) {
    rejectUser('passkey_limit_reached', `an account has at most ${passkeysMax} passkeys; remove one first`);
  }
  return [
    {
      type: 'PasskeyRegistered',
      data: {
        passkey_id: passkey.passkeyId,
        credential_digest: passkey.credential_digest,
        credential: passkey.credential,
        counter: passkey.counter,
        transports: [...passkey.transports],
        synced: passkey.synced,
        backed_up: passkey.backed_up,
        aaguid: passkey.aaguid,
        name: passkey.name,
      },
    },
    ...firstRecoveryCodes(recoveryCodes, user),
  ];
}

function owned({ passkeys }: RegisteredUser, id: string): Passkey {
  const found = passkeys.find(({ passkeyId }) => passkeyId === id);
  return found ?? rejectUser('passkey_not_found', 'you have no such passkey');
}
