import type { Background } from '../commands/background.js';
import { makeChangePassword } from '../commands/change-password.js';
import type { FindAccount } from '../commands/find-account.js';
import { makeLogin } from '../commands/login.js';
import { makeLoginByEmailCode } from '../commands/login-by-email-code.js';
import { makeLogout } from '../commands/logout.js';
import { makeRefresh } from '../commands/refresh.js';
import type { OnUncheckable } from '../commands/refuse-uncheckable.js';
import type { CheckPassword } from '../commands/register.js';
import { makeRevokeSession } from '../commands/revoke-session.js';
import { makeSendEmailCode } from '../commands/send-email-code.js';
import type { StartSession } from '../commands/start-session.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import type { Digests } from '../keys/digests.js';
import type { MailedCodes } from '../keys/login-codes.js';
import type { RefreshTokens } from '../keys/refresh-tokens.js';
import type { Sealer } from '../keys/sealer.js';
import type { AccessTokens } from '../security/access-tokens.js';
import { signInThrottle } from '../security/failure-throttle.js';
import { makeGuardedTries } from '../security/guarded-tries.js';
import type { Passwords } from '../security/passwords.js';
import type { UserReader } from '../../projections/users/reader.js';

/** Puts together how people sign in, stay signed in and sign out. */
export function makeSessionCommands(deps: {
  readonly clock: Clock;
  readonly handler: CommandHandler;
  readonly stateStore: StateStore;
  readonly sealer: Sealer;
  readonly digests: Digests;
  readonly passwords: Passwords;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly loginCodes: MailedCodes;
  readonly users: UserReader;
  readonly findAccount: FindAccount;
  readonly startSession: StartSession;
  readonly checkPassword: CheckPassword;
  readonly background: Background;
  /** Told of work that failed beside an answer. */
  readonly onFailure: (what: string, error: unknown) => void;
}) {
  const onUncheckable: OnUncheckable = (error) => {
    deps.onFailure(`the password of a user could not be checked: ${error.message}`, error);
  };
  return {
    login: makeLogin({
      ...deps,
      onUncheckable,
      tries: makeGuardedTries({ ...deps, name: 'login', limits: signInThrottle }),
      onRehashFailed: (error) => {
        deps.onFailure('a password could not be hashed anew', error);
      },
    }),
    sendEmailCode: makeSendEmailCode(deps),
    loginByEmailCode: makeLoginByEmailCode(deps),
    refresh: makeRefresh(deps),
    logout: makeLogout(deps),
    revokeSession: makeRevokeSession(deps),
    changePassword: makeChangePassword({
      ...deps,
      onUncheckable,
      tries: makeGuardedTries({ ...deps, name: 'password', limits: signInThrottle }),
    }),
  };
}
