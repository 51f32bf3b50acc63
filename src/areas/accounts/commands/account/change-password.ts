import type { UserRejection } from '../../domain/user/rejections.js';
import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import { invalid } from '../../../../validation/invalid-request.js';
import { type RegisteredUser, userAggregate } from '../../domain/user/user.js';
import { parseEmailAddress } from '../../../../validation/email-address.js';
import type { TryingClient, KnownDevice } from '../../../../security/guessing/guard.js';
import type { KnownDevices } from '../signing-in/known-devices.js';
import { openForPerson, sealForPerson } from './person-data.js';
import type { CheckPresentPassword } from '../signing-in/present-password.js';
import { loadRegistered } from '../registering/registered-user.js';
import { isRejection } from '../../../shared/rejections.js';

export interface ChangePasswordInput {
  readonly userId: string;
  /** The session of the request; it is the only one that stays valid. */
  readonly session: {
    readonly id: string;
    readonly epoch: number;
    /** When the session last proved a mailed code; null if it never did. */
    readonly emailCodeAt: Date | null;
  };
  /** Optional for 15 min after a sign-in or a reauthentication by a mailed code. */
  readonly currentPassword: string | undefined;
  readonly newPassword: string;
  /** In canonical spelling. */
  readonly clientIp: string;
  /** The device of the session, if the account knows it; null when left out. */
  readonly known?: KnownDevice | null;
}

/**
 * Changes a password and ends all other sessions of the user (src/security/README.md#passwords). When it resolves, every later
 * request of those sessions is refused.
 * @throws CommandRejected invalid_request, credentials_refused, password_not_checkable, session_ended, user_not_found;
 * TooManyAttempts; Overloaded
 */
export type ChangePassword = (input: ChangePasswordInput, context: CommandContext) => Promise<void>;

/** The time for which a mailed code replaces the current password (src/security/README.md#passwords). */
const codeReplacesMs = 15 * 60_000;

/** A sign-in may rehash the same password between its check and the change. */
const triesMax = 3;

export function makeChangePassword({
  handler,
  sealer,
  passwords,
  checkPassword,
  checkPresentPassword,
  knownDevices,
}: Pick<AccountDeps, 'handler' | 'sealer' | 'passwords' | 'checkPassword'> & {
  readonly checkPresentPassword: CheckPresentPassword;
  readonly knownDevices: Pick<KnownDevices, 'keep'>;
}): ChangePassword {
  return async (input, context) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await change(input, context);
        return;
      } catch (error) {
        if (!isRejection<UserRejection>(error, 'password_changed') || attempt === triesMax) throw error;
      }
    }
  };

  async function change(input: ChangePasswordInput, context: CommandContext): Promise<void> {
    const { userId, session, newPassword } = input;
    const user = await loadRegistered(handler, userId);
    const email = await openForPerson(sealer, { userId, field: 'email' }, user.email);
    const problem = checkPassword(newPassword, parseEmailAddress(email)?.localPart ?? '');
    if (problem !== null) invalid('new_password', problem.problem, problem.code);

    const client = { ip: input.clientIp, known: input.known ?? null };
    const checkedAgainst = await prove(input, { user, client }, context);
    const hash = await passwords.hash(newPassword, client);
    const passwordHash = await sealForPerson(sealer, { userId, field: 'password_hash' }, hash);
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'ChangePassword', passwordHash, checkedAgainst, session },
      context,
      { revokesAccess: true },
    );
    // The change ends the other devices too: it may be an answer to a thief.
    await knownDevices.keep({ userId, epoch: user.epoch + 1, sessionId: session.id });
  }

  /** Returns the hash that the current password matches; null where a mailed code replaces it. */
  async function prove(
    { userId, session, currentPassword }: ChangePasswordInput,
    { user, client }: { readonly user: RegisteredUser; readonly client: TryingClient },
    context: CommandContext,
  ): Promise<Sealed | null> {
    if (currentPassword !== undefined) {
      const field = 'current_password';
      const of = { userId, user, password: currentPassword, client, field };
      return checkPresentPassword(of, context);
    }
    const { emailCodeAt } = session;
    if (emailCodeAt !== null && context.time.getTime() - emailCodeAt.getTime() <= codeReplacesMs) return null;
    return invalid(
      'current_password',
      'is missing: only who has just proved a mailed code may leave it out',
      'missing',
    );
  }
}
