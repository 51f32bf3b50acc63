import { z } from 'zod';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import { changeRecord } from '../../../../event-sourcing/ports/change-record.js';
import type { StateStore } from '../../../../event-sourcing/ports/state-store.js';
import type { ChallengeUse, OpenChallenge } from '../../../../keys/codes/passkey-challenges.js';
import type { Sealer } from '../../../../keys/sealing/sealer.js';
import {
  type AuthenticationResponse,
  type Credential,
  type PasskeySettings,
  makeWebauthn,
} from '../../../../security/tokens/webauthn.js';
import { rejectUseCase, whenRejected } from '../../../shared/rejections.js';
import type { UserRejection } from '../../domain/user/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import { type Account, openForPerson, sealForPerson } from '../finding.js';

interface PasskeyTry {
  /** Null: the response names no user. */
  readonly userId: string | null;
  readonly use: ChallengeUse;
  readonly response: AuthenticationResponse;
}

export type PassPasskey = ReturnType<typeof makePassPasskey>;

/**
 * Makes the check of a response of a passkey, which uses its challenge up (src/areas/accounts/commands/README.md#passkeys). The user is as
 * read before the use; null for every refused response.
 */
export function makePassPasskey(deps: AccountDeps) {
  const { handler, sealer, digests, stateStore, passkeys, passkeyChallenges } = deps;
  /** @throws CommandRejected passkeys_not_configured; StoreUnavailable */
  return (tried: PasskeyTry, context: CommandContext): Promise<Account | null> =>
    // The passkey or its user may have gone meanwhile.
    pass(tried, context).catch(
      whenRejected<UserRejection>('passkey_not_found', 'user_not_found')(() => null),
    );

  async function pass(
    { userId, use, response }: PasskeyTry,
    context: CommandContext,
  ): Promise<Account | null> {
    const webauthn = makeWebauthn(requirePasskeys(passkeys));
    const data = webauthn.clientData(response.response.clientDataJSON);
    if (data?.fromOurs !== true || userId === null) return null;
    const challenge = passkeyChallenges.open(use, data.challenge, context.time);
    if (challenge === null) return null;
    // The session's epoch is read before the use: an event that ends the user's sessions later also ends the new one.
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered') return null;
    const digest = digests.of('passkey', response.id);
    const passkey = user.passkeys.find(({ credential_digest }) => credential_digest === digest);
    if (passkey === undefined) return null;
    const credential = await openCredential(sealer, userId, passkey.credential);
    const proof = await webauthn.authenticated(response, data.challenge, credential);
    if (proof === null || !(await useChallenge(stateStore, challenge))) return null;
    const command = { type: 'UsePasskey', passkey_id: passkey.passkey_id, ...proof } as const;
    const { events } = await handler.handle(userAggregate.at(userId), command, context);
    return events.some(({ type }) => type === 'PasskeyUsed') ? { userId, user } : null;
  }
}

/** Returns the relying party. @throws CommandRejected passkeys_not_configured */
export function requirePasskeys(passkeys: PasskeySettings | null): PasskeySettings {
  if (passkeys !== null) return passkeys;
  return rejectUseCase(
    'passkeys_not_configured',
    'PUBLIC_URL is no https origin with a domain, so browsers accept no passkey here; see PUBLIC_URL and PASSKEY_RP_ID',
  );
}

/** Returns the user handle of a user: the 16 bytes of the id, in base64url. It says nothing of the person. */
export function userHandleOf(userId: string): string {
  return Buffer.from(userId.replaceAll('-', ''), 'hex').toString('base64url');
}

/** Returns the user's id; null where the text is no user handle. */
export function userIdOf(userHandle: string): string | null {
  const bytes = Buffer.from(userHandle, 'base64url');
  if (bytes.length !== 16 || bytes.toString('base64url') !== userHandle) return null;
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** A difference between the clocks of processes and stores must not end a record before its challenge. */
const clockDifferenceMs = 60_000;

/**
 * Uses a challenge up. Only a response whose signature is verified may come here: each record is a write.
 * @returns false where it was used before @throws StoreUnavailable
 */
export async function useChallenge(
  stateStore: Pick<StateStore, 'compareAndSet'>,
  { digest, expiresAt }: OpenChallenge,
): Promise<boolean> {
  const end = new Date(expiresAt.getTime() + clockDifferenceMs);
  const version = await stateStore.compareAndSet(`passkey-challenge/${digest}`, null, true, {
    expiresAt: end,
  });
  return version !== null;
}

/** Longer than a registration runs. After that, the view of users shows the passkey. */
const claimMs = 60_000;

/**
 * Claims a credential for a user, so that of two accounts that register it at the same moment one is refused.
 * @returns false while another user has the claim @throws StoreUnavailable
 */
export async function claimCredential(
  stateStore: Pick<StateStore, 'get' | 'compareAndSet'>,
  { digest, userId, now }: { readonly digest: string; readonly userId: string; readonly now: Date },
): Promise<boolean> {
  const claimed = await changeRecord(
    stateStore,
    { key: `passkey-credential/${digest}`, schema: z.string() },
    (found) =>
      found === null || found.value === userId
        ? { write: userId, expiresAt: new Date(now.getTime() + claimMs), result: true }
        : { keep: false },
    { tries: 2, unknownOutcome: 'retry' },
  );
  return claimed !== null && 'result' in claimed;
}

/** The sealed part of `PasskeyRegistered`: base64url. */
const storedCredential = z.strictObject({ id: z.string(), public_key: z.string() });

const field = 'passkey';

/** Seals a credential for its person. @throws CommandRejected user_not_found once the person is erased */
export function sealCredential(
  sealer: Pick<Sealer, 'seal'>,
  userId: string,
  { id, publicKey }: Credential,
): Promise<Sealed> {
  const stored = { id, public_key: Buffer.from(publicKey).toString('base64url') };
  return sealForPerson(sealer, { userId, field }, JSON.stringify(stored));
}

/** Opens a credential. @throws CommandRejected user_not_found once the person is erased */
export async function openCredential(
  sealer: Pick<Sealer, 'open'>,
  userId: string,
  sealed: Sealed,
): Promise<Credential> {
  const text = await openForPerson(sealer, { userId, field }, sealed);
  const { id, public_key } = storedCredential.parse(JSON.parse(text));
  return { id, publicKey: Uint8Array.from(Buffer.from(public_key, 'base64url')) };
}

/** @throws CommandRejected credentials_refused */
export function refusePasskeySignIn(): never {
  return rejectUseCase(
    'credentials_refused',
    'the passkey is unknown or was refused, or its challenge was used or is over; ask for new options',
  );
}
