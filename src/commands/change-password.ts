import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { CommandRejected } from '../event-sourcing/errors.js';
import type { Sealed } from '../event-sourcing/sealed.js';
import { invalid, type InvalidRequest } from '../domain/invalid-request.js';
import { type RegisteredUser, userAggregate } from '../domain/user/user.js';
import type { Sealer } from '../keys/sealer.js';
import { parseEmailAddress } from '../security/email-address.js';
import type { GuardedTries } from '../security/guarded-tries.js';
import type { Passwords } from '../security/passwords.js';
import { openForPerson, sealForPerson } from './person-data.js';
import type { CheckPassword } from './register.js';
import { loadRegistered } from './registered-user.js';
import { type OnUncheckable, refuseUncheckable } from './refuse-uncheckable.js';
import { isRejection, rejectUseCase, TooManyAttempts } from './rejections.js';

export interface ChangePasswordInput {
  readonly userId: string;
  /** The session that asks, and the only one that stays. */
  readonly session: {
    readonly id: string;
    readonly epoch: number;
    readonly methods: readonly string[];
    readonly authenticatedAt: Date;
  };
  /** May be left out soon after signing in by a mailed code. */
  readonly currentPassword: string | undefined;
  readonly newPassword: string;
  /** In canonical spelling. */
  readonly clientIp: string;
}

/**
 * Changes a password and ends all other sessions of the user (DESIGN 4.1). It resolves when no request by them passes any more.
 * @throws CommandRejected invalid_request, credentials_refused, password_not_checkable, session_ended, user_not_found;
 *   TooManyAttempts; Overloaded
 */
export type ChangePassword = (input: ChangePasswordInput, context: CommandContext) => Promise<void>;

/** DESIGN 4.1: how long a mailed code stands in for the current password, in ms. */
const codeStandsInMs = 15 * 60_000;

const advice =
  'current_password: cannot be checked any more; sign in by a mailed code, and choose a new password without it';

/** A sign-in may hash the same password anew between its check and the change. */
const triesMax = 3;

export function makeChangePassword({
  handler,
  sealer,
  passwords,
  checkPassword,
  tries,
  onUncheckable,
}: {
  readonly handler: CommandHandler;
  readonly sealer: Pick<Sealer, 'open' | 'seal'>;
  readonly passwords: Passwords;
  readonly onUncheckable: OnUncheckable;
  readonly checkPassword: CheckPassword;
  /** By user and client. */
  readonly tries: GuardedTries;
}): ChangePassword {
  return async (input, context) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await change(input, context);
        return;
      } catch (error) {
        if (!isRejection(error, 'password_changed') || attempt === triesMax) throw error;
      }
    }
  };

  async function change(input: ChangePasswordInput, context: CommandContext): Promise<void> {
    const { userId, session, newPassword } = input;
    const user = await loadRegistered(handler, userId);
    const email = await openForPerson(sealer, { userId, field: 'email' }, user.email);
    const problem = checkPassword(newPassword, parseEmailAddress(email)?.localPart ?? '');
    if (problem !== null) throw new CommandRejected<InvalidRequest>('invalid_request', `new_${problem}`);

    const checkedAgainst = await prove(input, user, context.time);
    const hash = await passwords.hash(newPassword);
    const passwordHash = await sealForPerson(sealer, { userId, field: 'password_hash' }, hash);
    await handler.handle(
      { aggregate: userAggregate, id: userId },
      { type: 'ChangePassword', passwordHash, checkedAgainst, session },
      context,
      { revokesAccess: true },
    );
  }

  /** The hash that the current password was checked against; null where a mailed code stands in for it. */
  async function prove(
    { userId, session, currentPassword, clientIp }: ChangePasswordInput,
    user: RegisteredUser,
    now: Date,
  ): Promise<Sealed | null> {
    if (currentPassword === undefined) {
      const ageMs = now.getTime() - session.authenticatedAt.getTime();
      if (session.methods.includes('email') && ageMs <= codeStandsInMs) return null;
      return invalid('current_password', 'is needed, unless you have just signed in by a mailed code');
    }
    const check = async (): Promise<Sealed | null> => {
      if (user.passwordHash === null) {
        await passwords.verifyNone(currentPassword);
        return null;
      }
      const stored = await openForPerson(sealer, { userId, field: 'password_hash' }, user.passwordHash);
      const { matches } = await passwords.verify(currentPassword, stored);
      return matches ? user.passwordHash : null;
    };
    const run = () => tries.run({ subject: userId, clientIp }, check, passwords.requireRoom);
    const tried = await refuseUncheckable(run, { advice, onUncheckable });
    switch (tried.outcome) {
      case 'passed':
        return tried.value;
      case 'failed':
        return rejectUseCase('credentials_refused', 'current_password: is not your password');
      case 'throttled':
        throw new TooManyAttempts(tried.retryAfterSeconds);
    }
  }
}
