import type { UserRejection } from '../../domain/user/rejections.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { type RegisteredUser, userAggregate } from '../../domain/user/user.js';
import type { ChallengeUse } from '../../../../keys/codes/passkey-challenges.js';
import { type AuthenticationResponse, makeWebauthn } from '../../../../security/tokens/webauthn.js';
import type { AccountDeps } from '../../deps.js';
import { isRejection } from '../../../shared/rejections.js';
import { openCredential } from './passkey-credential.js';
import { credentialDigestOf, requirePasskeys, useChallenge } from './passkey-shared.js';

export interface PasskeyTry {
  /** Null: the response names no user. */
  readonly userId: string | null;
  readonly use: ChallengeUse;
  readonly response: AuthenticationResponse;
}

/**
 * Verifies a response of a passkey and uses its challenge up (src/areas/accounts/commands/README.md#passkeys).
 * @returns the user as read before the use; null for every refused response
 * @throws CommandRejected passkeys_not_configured; StoreUnavailable
 */
export type PassPasskey = (
  tried: PasskeyTry,
  context: CommandContext,
) => Promise<{ readonly userId: string; readonly user: RegisteredUser } | null>;

/** The passkey or its user went away meanwhile. */
const refusals: readonly UserRejection[] = ['passkey_not_found', 'user_not_found'];

export function makePassPasskey({
  handler,
  sealer,
  digests,
  stateStore,
  passkeys,
  passkeyChallenges,
}: Pick<
  AccountDeps,
  'handler' | 'sealer' | 'digests' | 'stateStore' | 'passkeys' | 'passkeyChallenges'
>): PassPasskey {
  return async (tried, context) => {
    try {
      return await pass(tried, context);
    } catch (error) {
      if (refusals.some((refusal) => isRejection<UserRejection>(error, refusal))) return null;
      throw error;
    }
  };

  async function pass(
    { userId, use, response }: PasskeyTry,
    context: CommandContext,
  ): ReturnType<PassPasskey> {
    const webauthn = makeWebauthn(requirePasskeys(passkeys));
    const data = webauthn.clientData(response.response.clientDataJSON);
    if (data?.fromOurs !== true || userId === null) return null;
    const challenge = passkeyChallenges.open(use, data.challenge, context.time);
    if (challenge === null) return null;
    // The session's epoch is read before the use: an event that ends the user's sessions later also ends the new one.
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered') return null;
    const digest = credentialDigestOf(digests, response.id);
    const passkey = user.passkeys.find(({ credentialDigest }) => credentialDigest === digest);
    if (passkey === undefined) return null;
    const credential = await openCredential(sealer, userId, passkey.credential);
    const proof = await webauthn.authenticated(response, data.challenge, credential);
    if (proof === null || !(await useChallenge(stateStore, challenge))) return null;
    const { events } = await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'UsePasskey', passkeyId: passkey.passkeyId, ...proof },
      context,
    );
    return events.some(({ type }) => type === 'PasskeyUsed') ? { userId, user } : null;
  }
}
