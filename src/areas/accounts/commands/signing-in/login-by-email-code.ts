import type { UserRejection } from '../../domain/user/rejections.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';
import type { EndGivenAccess } from '../account/end-given-access.js';
import { refuseBanned } from '../registering/registered-user.js';
import { checkAddress } from '../address/check-address.js';
import type { TryingClient, KnownDevice } from '../../../../security/guessing/guard.js';
import { hasFactor } from '../../domain/user/state.js';
import type { KnownDevices } from './known-devices.js';
import type { SignedIn } from './login.js';
import { isRejection, rejectUseCase, TooManyAttempts } from '../../../shared/rejections.js';
import { replyAfterMs } from './send-email-code.js';
import type { StartSession } from '../sessions/start-session.js';
import type { TryLoginCode } from './try-login-code.js';

export interface EmailCodeLoginInput {
  readonly email: string;
  /** Unchecked text. */
  readonly code: string;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** The device of the client, if the account knows it; null when left out. */
  readonly known?: KnownDevice | null;
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
}

/**
 * Signs in by a mailed code, which also verifies the address (src/areas/accounts/commands/README.md#login-codes). The first code that verifies
 * an address voids all that the account held before, and ends the access that it gave (see `EndGivenAccess`), because
 * its maker never proved the address. All refusals have the same text and come at the earliest 300 ms after the request
 * began.
 * @throws CommandRejected invalid_request, credentials_refused, account_banned after the right code; TooManyAttempts;
 * Overloaded
 */
export type LoginByEmailCode = (input: EmailCodeLoginInput, context: CommandContext) => Promise<SignedIn>;

/** The account or its address is gone. The reply does not say which. */
const refusals: readonly UserRejection[] = ['user_not_found', 'address_changed'];

export function makeLoginByEmailCode({
  handler,
  digests,
  tryLoginCode,
  knownDevices,
  clock,
  users,
  startSession,
  endGivenAccess,
}: Pick<AccountDeps, 'handler' | 'digests' | 'clock' | 'users'> & {
  readonly tryLoginCode: TryLoginCode;
  readonly knownDevices: Pick<KnownDevices, 'complete'>;
  readonly startSession: StartSession;
  readonly endGivenAccess: EndGivenAccess;
}): LoginByEmailCode {
  return async ({ email, code, clientIp, known = null, userAgent }, context) => {
    const releaseMs = clock.now().getTime() + replyAfterMs;
    const emailDigest = digests.email(checkAddress(email).canonical);
    const client = { ip: clientIp, known };
    const user = await prove({ emailDigest, code, client }, context).catch(async (error: unknown) => {
      if (refusals.some((refusal) => isRejection<UserRejection>(error, refusal))) return null;
      if (error instanceof TooManyAttempts) await untilRelease();
      throw error;
    });
    if (user === null) {
      await untilRelease();
      return refuse();
    }
    const { userId, epoch } = user;
    const session = { userId, epoch, methods: ['email'], clientIp, userAgent, deviceId: known?.id } as const;
    const { tokens, deviceId } = await startSession(session, context);
    // With a second factor on, only that completes the sign-in.
    const isComplete = !user.hasSecondFactor;
    const deviceToken = isComplete ? await knownDevices.complete({ userId, epoch }, deviceId, known) : null;
    const found = await users.find(userId);
    return found === null ? refuse() : { user: found.resource, tokens, deviceToken };

    function untilRelease(): Promise<void> {
      return clock.sleep(Math.max(0, releaseMs - clock.now().getTime()));
    }
  };

  /** Uses the code; null when it is wrong. */
  async function prove(
    of: { readonly emailDigest: string; readonly code: string; readonly client: TryingClient },
    context: CommandContext,
  ): Promise<Proved | null> {
    const { emailDigest } = of;
    const used = await tryLoginCode(of, context);
    if (used === null) return null;
    const { userId, user } = used;
    if (user.status === 'registered') refuseBanned(user);
    const target = { aggregate: userAggregate, id: userId };
    const proof = { type: 'ProveEmail', emailDigest } as const;
    const { events } = await handler.handle(target, proof, context, { revokesAccess: true });
    if (user.status !== 'registered') return null;
    // CredentialsVoided ends all earlier sessions, but not this one.
    const voided = events.some(({ type }) => type === 'CredentialsVoided');
    if (!voided) return { userId, epoch: user.epoch, hasSecondFactor: hasFactor(user) };
    // From here on, a reaction does it if this process crashes.
    await endGivenAccess({ userId }, context);
    return { userId, epoch: user.epoch + 1, hasSecondFactor: false };
  }
}

interface Proved {
  readonly userId: string;
  readonly epoch: number;
  readonly hasSecondFactor: boolean;
}

function refuse(): never {
  return rejectUseCase(
    'credentials_refused',
    'the code is wrong, was used, or is not valid any more; ask for another',
  );
}
