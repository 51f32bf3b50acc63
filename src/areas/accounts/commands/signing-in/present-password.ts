import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import type { RegisteredUser } from '../../domain/user/user.js';
import type { GuardedTries } from '../../../../security/guessing/guarded-tries.js';
import { type OnUncheckable, refuseUncheckable } from './refuse-uncheckable.js';
import { rejectUseCase, TooManyAttempts } from '../../../shared/rejections.js';
import { type AccountTries, perClient } from './account-tries.js';
import { openForPerson } from '../account/person-data.js';

/** An attempt at the present password of a signed-in user. */
export interface PasswordTry {
  readonly userId: string;
  readonly user: RegisteredUser;
  readonly password: string;
  /** In canonical spelling. Failures are throttled by user and client. */
  readonly clientIp: string;
  /** The name of the field in the request. */
  readonly field: string;
}

/**
 * Checks the present password of a user, and returns the hash that it matches.
 * @throws CommandRejected credentials_refused, password_not_checkable, user_not_found; TooManyAttempts; Overloaded
 */
export type CheckPresentPassword = (of: PasswordTry, context: CommandContext) => Promise<Sealed>;

export function makeCheckPresentPassword({
  sealer,
  passwords,
  passwordTries,
  tries,
  onUncheckable,
}: Pick<AccountDeps, 'sealer' | 'passwords'> & {
  readonly onUncheckable: OnUncheckable;
  /** Counts by address, for all clients together, and together with sign-ins. */
  readonly passwordTries: AccountTries;
  /** Counts by user and client. */
  readonly tries: GuardedTries;
}): CheckPresentPassword {
  return async ({ userId, user, password, clientIp, field }, context) => {
    const check = async (): Promise<Sealed | null> => {
      if (user.passwordHash === null) {
        await passwords.verifyNone(password);
        return null;
      }
      const stored = await openForPerson(sealer, { userId, field: 'password_hash' }, user.passwordHash);
      const { matches } = await passwords.verify(password, stored);
      return matches ? user.passwordHash : null;
    };
    const account = { emailDigest: user.email_digest, clientIp };
    const slowed = perClient<Sealed>(tries, { subject: userId, clientIp }, passwords.requireRoom);
    const run = () => passwordTries.run(account, check, context, slowed);
    const advice = `${field} cannot be checked any more; sign in by a mailed code, and choose a new password without it`;
    const tried = await refuseUncheckable(run, { advice, onUncheckable });
    switch (tried.outcome) {
      case 'passed':
        return tried.value;
      case 'failed':
        return rejectUseCase('credentials_refused', `${field} is not your password`);
      case 'throttled':
        throw new TooManyAttempts(tried.retryAfterSeconds);
    }
  };
}
