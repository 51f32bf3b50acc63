import type { UserRejection } from '../../domain/user/rejections.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../domain/user/user.js';
import type { EndGivenAccess } from '../account/end-given-access.js';
import { refuseBanned } from '../registering/registered-user.js';
import { checkAddress } from '../address/check-address.js';
import type { KnownNetworks } from '../../../../security/guessing/known-networks.js';
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
  /** The client's `User-Agent`; null where it sends none. */
  readonly userAgent: string | null;
}

/**
 * Signs in by a mailed code, which also verifies the address (docs/design.md#login-codes). The first code that verifies
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
  networks,
  clock,
  users,
  startSession,
  endGivenAccess,
}: Pick<AccountDeps, 'handler' | 'digests' | 'clock' | 'users'> & {
  readonly tryLoginCode: TryLoginCode;
  readonly networks: Pick<KnownNetworks, 'remember' | 'rememberOnly'>;
  readonly startSession: StartSession;
  readonly endGivenAccess: EndGivenAccess;
}): LoginByEmailCode {
  return async ({ email, code, clientIp, userAgent }, context) => {
    const releaseMs = clock.now().getTime() + replyAfterMs;
    const emailDigest = digests.email(checkAddress(email).canonical);
    const user = await prove({ emailDigest, code, clientIp }, context).catch(async (error: unknown) => {
      if (refusals.some((refusal) => isRejection<UserRejection>(error, refusal))) return null;
      if (error instanceof TooManyAttempts) await untilRelease();
      throw error;
    });
    if (user === null) {
      await untilRelease();
      return refuse();
    }
    const { userId, epoch } = user;
    const tokens = await startSession({ userId, epoch, methods: ['email'], clientIp, userAgent }, context);
    // With a second factor on, only that completes the sign-in.
    if (!user.hasSecondFactor) await networks.remember({ emailDigest, clientIp });
    const found = await users.find(userId);
    return found === null ? refuse() : { user: found.resource, tokens };

    function untilRelease(): Promise<void> {
      return clock.sleep(Math.max(0, releaseMs - clock.now().getTime()));
    }
  };

  /** Uses the code; null when it is wrong. */
  async function prove(
    of: { readonly emailDigest: string; readonly code: string; readonly clientIp: string },
    context: CommandContext,
  ): Promise<Proved | null> {
    const { emailDigest, clientIp } = of;
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
    if (!voided) return { userId, epoch: user.epoch, hasSecondFactor: user.totp.status === 'on' };
    // From here on, a reaction does it if this process crashes.
    await endGivenAccess({ userId }, context);
    // The person who registered the address signed in from the other networks.
    await networks.rememberOnly({ emailDigest, clientIp });
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
