import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { AuthenticationResponse } from '../../../../security/tokens/webauthn.js';
import type { AccountDeps } from '../../deps.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import type { KnownDevices } from '../signing-in/known-devices.js';
import type { SignedIn } from '../signing-in/login.js';
import { refuseBanned } from '../registering/registered-user.js';
import type { PassPasskey } from './pass-passkey.js';
import { userIdOf } from './passkey-shared.js';
import type { StartSession } from '../sessions/start-session.js';

export interface PasskeyLoginInput {
  readonly response: AuthenticationResponse;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
}

/**
 * Signs in by a passkey with user verification, which counts as both factors (src/areas/accounts/commands/README.md#passkeys). All refusals
 * have the same text.
 * @throws CommandRejected passkeys_not_configured, credentials_refused, account_banned after a right response;
 * StoreUnavailable; Overloaded
 */
export type LoginByPasskey = (input: PasskeyLoginInput, context: CommandContext) => Promise<SignedIn>;

export function makeLoginByPasskey({
  users,
  startSession,
  passPasskey,
  knownDevices,
}: Pick<AccountDeps, 'users'> & {
  readonly knownDevices: Pick<KnownDevices, 'complete' | 'noteSession'>;
  readonly startSession: StartSession;
  readonly passPasskey: PassPasskey;
}): LoginByPasskey {
  return async ({ response, clientIp, userAgent }, context) => {
    const userId = userIdOf(response.response.userHandle ?? '');
    const use = { purpose: 'sign-in', sessionId: null } as const;
    const passed = await passPasskey({ userId, use, response }, context);
    if (passed === null) return refuse();
    refuseBanned(passed.user);
    const of = { userId: passed.userId, epoch: passed.user.epoch };
    const session = { ...of, methods: ['passkey'], clientIp, userAgent } as const;
    const { tokens, deviceId } = await startSession(session, context);
    if (!passed.user.email_verified) await knownDevices.noteSession(passed.userId);
    const deviceToken = await knownDevices.complete(of, deviceId, null);
    const found = await users.find(passed.userId);
    return found === null ? refuse() : { user: found.resource, tokens, deviceToken };
  };
}

function refuse(): never {
  return rejectUseCase(
    'credentials_refused',
    'the passkey is unknown or was refused, or its challenge was used or is over; ask for new options',
  );
}
