import type { AccountDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Sealed } from '../../../../event-sourcing/ports/sealed.js';
import type { RegisteredUser } from '../../domain/user/user.js';
import type { TryingClient } from '../../../../security/guessing/guard.js';
import { type OnUncheckable, refuseUncheckable } from './refuse-uncheckable.js';
import { rejectUseCase } from '../../../shared/rejections.js';
import type { AccountGuard } from './account-guard.js';
import { openForPerson } from '../account/person-data.js';

/** An attempt at the present password of a signed-in user. */
export interface PasswordTry {
  readonly userId: string;
  readonly user: RegisteredUser;
  readonly password: string;
  readonly client: TryingClient;
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
  passwordGuard,
  onUncheckable,
}: Pick<AccountDeps, 'sealer' | 'passwords'> & {
  readonly onUncheckable: OnUncheckable;
  /** Counts together with sign-ins. */
  readonly passwordGuard: AccountGuard;
}): CheckPresentPassword {
  return async ({ userId, user, password, client, field }, context) => {
    const check = async (): Promise<Sealed | null> => {
      if (user.passwordHash === null) {
        await passwords.verifyNone(password, client);
        return null;
      }
      const stored = await openForPerson(sealer, { userId, field: 'password_hash' }, user.passwordHash);
      const { matches } = await passwords.verify(password, stored, client);
      return matches ? user.passwordHash : null;
    };
    const admit = () => {
      passwords.requireRoom(client);
    };
    const run = () => passwordGuard.run({ subject: user.email_digest, client, admit }, check, context);
    const advice = `${field} cannot be checked any more; sign in by a mailed code, and choose a new password without it`;
    const matched = await refuseUncheckable(run, { advice, onUncheckable });
    return matched ?? rejectUseCase('credentials_refused', `${field} is not your password`);
  };
}
