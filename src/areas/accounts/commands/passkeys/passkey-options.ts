import { passkeysMax } from '../../domain/factors/passkeys.js';
import { rejectUser } from '../../domain/user/rejections.js';
import { challengeSeconds, type ChallengeUse } from '../../../../keys/codes/passkey-challenges.js';
import { passkeyAlgorithms, type PasskeySettings } from '../../../../security/tokens/webauthn.js';
import type { AccountDeps } from '../../deps.js';
import { openCredential } from './passkey-credential.js';
import { openForPerson } from '../account/person-data.js';
import { loadRegistered } from '../registering/registered-user.js';
import { requirePasskeys, userHandleOf } from './passkey-shared.js';

/** `PublicKeyCredentialCreationOptionsJSON` (WebAuthn Level 3, section 5.1.10). */
export interface PasskeyCreationOptions {
  readonly rp: { readonly id: string; readonly name: string };
  readonly user: { readonly id: string; readonly name: string; readonly displayName: string };
  readonly challenge: string;
  readonly pubKeyCredParams: { readonly type: 'public-key'; readonly alg: number }[];
  /** ms */
  readonly timeout: number;
  readonly attestation: 'none';
  readonly authenticatorSelection: {
    readonly residentKey: 'required';
    readonly requireResidentKey: true;
    readonly userVerification: 'required';
  };
  /** The passkeys of the account: an authenticator that holds one makes no other. */
  readonly excludeCredentials: { readonly type: 'public-key'; readonly id: string }[];
}

/** `PublicKeyCredentialRequestOptionsJSON`. It names no passkey, so the browser offers those that it finds. */
export interface PasskeyRequestOptions {
  readonly rpId: string;
  readonly challenge: string;
  /** ms */
  readonly timeout: number;
  readonly userVerification: 'required';
}

export interface PasskeyOptions {
  /**
   * Returns the options for a new passkey of the account.
   * @throws CommandRejected passkeys_not_configured, user_not_found, passkey_limit_reached
   */
  forRegistration(
    of: { readonly userId: string; readonly sessionId: string },
    now: Date,
  ): Promise<PasskeyCreationOptions>;
  /** Returns the options for a sign-in. It reads and writes nothing. @throws CommandRejected passkeys_not_configured */
  forSignIn(use: ChallengeUse, now: Date): PasskeyRequestOptions;
}

const timeout = challengeSeconds * 1_000;

export function makePasskeyOptions({
  handler,
  sealer,
  passkeys,
  passkeyChallenges,
}: Pick<AccountDeps, 'handler' | 'sealer' | 'passkeys' | 'passkeyChallenges'>): PasskeyOptions {
  return {
    forRegistration: async ({ userId, sessionId }, now) => {
      const { rpId }: PasskeySettings = requirePasskeys(passkeys);
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
      return {
        rp: { id: rpId, name: rpId },
        user: { id: userHandleOf(userId), name, displayName },
        challenge: passkeyChallenges.issue({ purpose: 'register', sessionId }, now),
        pubKeyCredParams: passkeyAlgorithms.map((alg) => ({ type: 'public-key', alg })),
        timeout,
        attestation: 'none',
        authenticatorSelection: {
          residentKey: 'required',
          requireResidentKey: true,
          userVerification: 'required',
        },
        excludeCredentials: known.map(({ id }) => ({ type: 'public-key', id })),
      };
    },
    forSignIn: (use, now) => ({
      rpId: requirePasskeys(passkeys).rpId,
      challenge: passkeyChallenges.issue(use, now),
      timeout,
      userVerification: 'required',
    }),
  };
}
