import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../../event-sourcing/deciding/ids.js';
import { transport } from '../../domain/user/events.js';
import { checkPasskeyName } from '../../domain/factors/passkeys.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import { type RegistrationResponse, makeWebauthn } from '../../../../security/tokens/webauthn.js';
import type { PasskeyResource } from '../../../../../projections/accounts/users/reader.js';
import type { AccountDeps } from '../../deps.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import { sealCredential } from './passkey-credential.js';
import { credentialDigestOf, requirePasskeys, useChallenge } from './passkey-shared.js';
import { sealForPerson } from '../account/person-data.js';
import { issuedCodes, type IssueRecoveryCodes } from '../second-factor/issue-recovery-codes.js';
import { loadRegistered } from '../registering/registered-user.js';

export interface RegisterPasskeyInput {
  readonly userId: string;
  /** The session of the request, which asked for the challenge. */
  readonly session: { readonly id: string; readonly epoch: number };
  readonly response: RegistrationResponse;
  readonly name: string;
}

/**
 * Registers a passkey that the browser has made (src/areas/accounts/commands/README.md#passkeys).
 * @throws CommandRejected invalid_request, passkeys_not_configured, passkey_refused, passkey_registered_before,
 * passkey_limit_reached, session_ended, user_not_found
 */
export type RegisterPasskey = (
  input: RegisterPasskeyInput,
  context: CommandContext,
) => Promise<RegisteredPasskey>;

export interface RegisteredPasskey {
  readonly passkey: PasskeyResource;
  /** For the first factor of the account; no other call returns them. Null: the account has codes, or had a factor. */
  readonly recoveryCodes: readonly string[] | null;
}

const transportsMax = 8;

/** Checks what needs no store, and returns the trimmed name. @throws CommandRejected invalid_request */
export function checkNewPasskey({ name }: Pick<RegisterPasskeyInput, 'name'>): string {
  return checkPasskeyName(name);
}

export function makeRegisterPasskey({
  handler,
  sealer,
  digests,
  stateStore,
  users,
  passkeys,
  passkeyChallenges,
  issueRecoveryCodes,
}: Pick<
  AccountDeps,
  'handler' | 'sealer' | 'digests' | 'stateStore' | 'users' | 'passkeys' | 'passkeyChallenges'
> & { readonly issueRecoveryCodes: IssueRecoveryCodes }): RegisterPasskey {
  return async (input, context) => {
    const { userId, session, response } = input;
    const webauthn = makeWebauthn(requirePasskeys(passkeys));
    const name = checkNewPasskey(input);
    const data = webauthn.clientData(response.response.clientDataJSON);
    if (data === null) return refuse('the response is malformed');
    const use = { purpose: 'register', sessionId: session.id } as const;
    const challenge = passkeyChallenges.open(use, data.challenge, context.time);
    if (challenge === null) return refuse('the challenge is not of this session or is over; ask for another');
    if (!data.fromOurs) return refuse('the page is none of PASSKEY_ORIGINS');
    const registered = await webauthn.registered(response, data.challenge);
    if (registered === null) return refuse('the response does not prove a passkey with user verification');
    // WebAuthn Level 3, section 7.1, step 26: a credential of another account may be a copy of its id.
    const credentialDigest = credentialDigestOf(digests, registered.id);
    const holders = await users.idsByCredential(credentialDigest);
    if (holders.some((holder) => holder !== userId)) {
      return rejectUser('passkey_registered_before', 'the passkey is registered already');
    }
    const passkeyId = derivedId(context, 'passkey');
    // A repetition after a crash finds the challenge used, and its own passkey.
    if (!(await useChallenge(stateStore, challenge)) && !(await isRegistered(userId, passkeyId))) {
      return refuse('the challenge was used; ask for another');
    }
    const { counter, synced, backedUp, aaguid } = registered;
    const passkey = {
      passkeyId,
      credentialDigest,
      credential: await sealCredential(sealer, userId, registered),
      ...{ counter, synced, backedUp, aaguid },
      transports: knownTransports(response.response.transports ?? []),
      name: await sealForPerson(sealer, { userId, field: 'passkey_name' }, name),
    };
    const made = issueRecoveryCodes(userId);
    const { documents } = await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'RegisterPasskey', passkey, session, recoveryCodes: made.digests },
      context,
    );
    const recoveryCodes = issuedCodes(made, await loadRegistered(handler, userId));
    const resource = await users.passkeyAfter(documents, passkeyId);
    if (resource === null) return rejectUser('passkey_not_found', 'the passkey was removed at once');
    return { passkey: resource, recoveryCodes };
  };

  async function isRegistered(userId: string, passkeyId: string): Promise<boolean> {
    const { state } = await handler.load(userAggregate, userId);
    return state.status === 'registered' && state.passkeys.some((passkey) => passkey.passkeyId === passkeyId);
  }
}

function refuse(why: string): never {
  return rejectUseCase('passkey_refused', why);
}

/** Browsers may name transports that this service does not know; it drops what is no name. */
function knownTransports(transports: readonly string[]): readonly string[] {
  return [...new Set(transports)].filter((text) => transport.safeParse(text).success).slice(0, transportsMax);
}
