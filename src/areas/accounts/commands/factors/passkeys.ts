import type { RequestSession } from '../../domain/guard.js';
import type { AccountDeps } from '../../deps.js';
import { derivedId } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import { type ChallengeUse, challengeSeconds } from '../../../../keys/codes/passkey-challenges.js';
import {
  type AuthenticationResponse,
  type RegistrationResponse,
  makeWebauthn,
  passkeyAlgorithms,
} from '../../../../security/tokens/webauthn.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import type { PasskeyResource } from '../../../../../projections/accounts/users/reader.js';
import { passkeysMax } from '../../domain/factors/passkeys.js';
import { transport } from '../../domain/user/events.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import { loadRegistered, openForPerson, refuseBanned, sealForPerson } from '../finding.js';
import type { KnownDevices } from '../signing-in/known-devices.js';
import {
  type PassPasskey,
  claimCredential,
  openCredential,
  requirePasskeys,
  sealCredential,
  useChallenge,
  userHandleOf,
  userIdOf,
  refusePasskeySignIn,
} from './passkey-proofs.js';
import type { TryingClient } from '../../../../security/guessing/guard.js';
import type { SignedIn } from '../signing-in/passwords.js';
import { areCodesOver, issueRecoveryCodes, issuedCodes } from './second-factors.js';
import type { Sessions } from '../signing-in/sessions.js';

interface PasskeyLoginInput {
  readonly response: AuthenticationResponse;
  readonly client: TryingClient;
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
}

interface RegisterPasskeyInput {
  readonly userId: string;
  /** The session of the request, which asked for the challenge. */
  readonly session: RequestSession;
  readonly response: RegistrationResponse;
  /** As the schema of the request returns it. */
  readonly name: string;
}

type OfPasskey = { readonly userId: string; readonly passkeyId: string };

const timeout = challengeSeconds * 1_000;
const transportsMax = 8;

/** Makes the use cases of passkeys (src/areas/accounts/commands/README.md#passkeys). */
export function makePasskeyCommands(
  deps: AccountDeps &
    Pick<Sessions, 'startSession'> & {
      readonly passPasskey: PassPasskey;
      readonly knownDevices: Pick<KnownDevices, 'complete' | 'noteSession'>;
    },
) {
  const { handler, sealer, digests, stateStore, users, passkeys, passkeyChallenges } = deps;
  const { startSession, passPasskey, knownDevices } = deps;
  return {
    passkeyOptions: {
      /**
       * Returns `PublicKeyCredentialCreationOptionsJSON` (WebAuthn Level 3, section 5.1.10) for a new passkey of the account. An
       * authenticator that holds one of its passkeys makes no other.
       * @throws CommandRejected passkeys_not_configured, user_not_found, passkey_limit_reached
       */
      forRegistration: async ({ userId, sessionId }: { userId: string; sessionId: string }, now: Date) => {
        const { rpId } = requirePasskeys(passkeys);
        const user = await loadRegistered(handler, userId);
        if (user.passkeys.length >= passkeysMax) {
          rejectUser(
            'passkey_limit_reached',
            `an account has at most ${passkeysMax} passkeys; remove one first`,
          );
        }
        const [name, displayName, ...known] = await Promise.all([
          openForPerson(sealer, { userId, field: 'email' }, user.email),
          openForPerson(sealer, { userId, field: 'nickname' }, user.nickname),
          ...user.passkeys.map(({ credential }) => openCredential(sealer, userId, credential)),
        ]);
        const type = 'public-key' as const;
        return {
          rp: { id: rpId, name: rpId },
          user: { id: userHandleOf(userId), name, displayName },
          challenge: passkeyChallenges.issue({ purpose: 'register', sessionId }, now),
          pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type, alg })),
          timeout,
          attestation: 'none' as const,
          authenticatorSelection: {
            residentKey: 'required',
            requireResidentKey: true,
            userVerification: 'required',
          } as const,
          excludeCredentials: known.map(({ id }) => ({ type, id })),
        };
      },
      /**
       * Returns `PublicKeyCredentialRequestOptionsJSON` for a sign-in. They name no passkey, so the browser offers those that it finds.
       * It reads and writes nothing. @throws CommandRejected passkeys_not_configured
       */
      forSignIn: (use: ChallengeUse, now: Date) => ({
        rpId: requirePasskeys(passkeys).rpId,
        challenge: passkeyChallenges.issue(use, now),
        timeout,
        userVerification: 'required' as const,
      }),
    },
    /**
     * Registers a passkey that the browser has made. The recovery codes come with the first factor of the account, and no other call
     * returns them; null: the account has codes, or had a factor.
     * @throws CommandRejected passkeys_not_configured, passkey_refused, passkey_registered_before,
     * passkey_limit_reached, session_ended, user_not_found
     */
    registerPasskey: async (
      { userId, session, response, name }: RegisterPasskeyInput,
      context: CommandContext,
    ): Promise<{ readonly passkey: PasskeyResource; readonly recoveryCodes: readonly string[] | null }> => {
      const webauthn = makeWebauthn(requirePasskeys(passkeys));
      const data = webauthn.clientData(response.response.clientDataJSON);
      if (data === null) return refusePasskey('the response is malformed');
      const use = { purpose: 'register', sessionId: session.id } as const;
      const challenge = passkeyChallenges.open(use, data.challenge, context.time);
      if (challenge === null)
        return refusePasskey('the challenge is not of this session or is over; ask for another');
      if (!data.fromOurs) return refusePasskey('the page is none of PASSKEY_ORIGINS');
      const registered = await webauthn.registered(response, data.challenge);
      if (registered === null)
        return refusePasskey('the response does not prove a passkey with user verification');
      const passkeyId = derivedId(context, 'passkey');
      // A repetition after a crash finds the challenge used, and its own passkey.
      if (!(await useChallenge(stateStore, challenge)) && !(await isRegistered(userId, passkeyId)))
        return refusePasskey('the challenge was used; ask for another');
      // WebAuthn Level 3, section 7.1, step 26: a credential of another account may be a copy of its id.
      const credential_digest = digests.of('passkey', registered.id);
      const isOwn =
        (await claimCredential(stateStore, { digest: credential_digest, userId, now: context.time })) &&
        (await users.idsByCredential(credential_digest)).every((holder) => holder === userId);
      if (!isOwn) return rejectUser('passkey_registered_before', 'the passkey is registered already');
      const { counter, synced, backed_up, aaguid } = registered;
      const passkey = {
        passkey_id: passkeyId,
        credential_digest,
        credential: await sealCredential(sealer, userId, registered),
        ...{ counter, synced, backed_up, aaguid },
        transports: knownTransports(response.response.transports ?? []),
        name: await sealName(userId, name),
      };
      const made = issueRecoveryCodes(deps, userId);
      const command = { type: 'RegisterPasskey', passkey, session, recoveryCodes: made.digests } as const;
      const { documents } = await handler.handle(userAggregate.at(userId), command, context);
      const recoveryCodes = issuedCodes(made, await loadRegistered(handler, userId));
      const resource = await users.passkeyAfter(documents, passkeyId);
      if (resource === null) return rejectUser('passkey_not_found', 'the passkey was removed at once');
      return { passkey: resource, recoveryCodes };
    },
    /** Returns whether a passkey was removed, or all of the recovery codes that came with it are over. */
    hasRegistrationEnded: async ({
      userId,
      passkeyId,
      codes,
    }: OfPasskey & { readonly codes: readonly string[] }): Promise<boolean> => {
      const user = await loadRegistered(handler, userId);
      if (!user.passkeys.some(({ passkey_id }) => passkey_id === passkeyId)) return true;
      return codes.length > 0 && areCodesOver(deps, { userId, user }, codes);
    },
    /** Names a passkey. @throws CommandRejected passkey_not_found, user_not_found */
    renamePasskey: async (
      { userId, passkeyId, name: given }: OfPasskey & { readonly name: string },
      context: CommandContext,
    ): Promise<PasskeyResource> => {
      const name = await sealName(userId, given);
      const command = { type: 'RenamePasskey', passkey_id: passkeyId, name } as const;
      const { documents } = await handler.handle(userAggregate.at(userId), command, context);
      const resource = await users.passkeyAfter(documents, passkeyId);
      return resource ?? rejectUser('passkey_not_found', 'you have no such passkey');
    },
    /**
     * Removes a passkey. When it resolves, the passkey signs in no more. With the last factor, the recovery codes end, and no session
     * meets `require_2fa`. @throws CommandRejected passkey_not_found, session_ended, user_not_found
     */
    removePasskey: async (
      { userId, passkeyId, session }: OfPasskey & { readonly session: RequestSession },
      context: CommandContext,
    ): Promise<void> => {
      const command = { type: 'RemovePasskey', passkey_id: passkeyId, session } as const;
      await handler.handle(userAggregate.at(userId), command, context, { revokesAccess: true });
    },
    /**
     * Signs in by a passkey with user verification, which counts as both factors. All refusals have the same text.
     * @throws CommandRejected passkeys_not_configured, credentials_refused, account_banned after a right response;
     * StoreUnavailable; Overloaded
     */
    loginByPasskey: async (
      { response, client, userAgent }: PasskeyLoginInput,
      context: CommandContext,
    ): Promise<SignedIn> => {
      const use = { purpose: 'sign-in', sessionId: null } as const;
      const tried = { userId: userIdOf(response.response.userHandle ?? ''), use, response };
      const passed = await passPasskey(tried, context);
      if (passed === null) return refusePasskeySignIn();
      const { userId, user } = passed;
      refuseBanned(user);
      const of = { userId, epoch: user.epoch };
      const session = { ...of, methods: ['passkey'], client, userAgent } as const;
      const { tokens, device_id } = await startSession(session, context);
      if (!user.email_verified) await knownDevices.noteSession(userId);
      const deviceToken = await knownDevices.complete(of, device_id, null);
      const found = await users.find(userId);
      return found === null ? refusePasskeySignIn() : { user: found.resource, tokens, deviceToken };
    },
  };

  function sealName(userId: string, name: string): Promise<Sealed> {
    return sealForPerson(sealer, { userId, field: 'passkey_name' }, name);
  }

  async function isRegistered(userId: string, passkeyId: string): Promise<boolean> {
    const { state } = await handler.load(userAggregate, userId);
    return (
      state.status === 'registered' && state.passkeys.some((passkey) => passkey.passkey_id === passkeyId)
    );
  }
}

function refusePasskey(why: string): never {
  return rejectUseCase('passkey_refused', why);
}

/** Browsers may name transports that this service does not know; it drops what is no name. */
function knownTransports(transports: readonly string[]): string[] {
  return [...new Set(transports)].filter((text) => transport.safeParse(text).success).slice(0, transportsMax);
}
