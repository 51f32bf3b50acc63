import type { Deps } from '../deps.js';
import type { AccountTries } from './account-tries.js';
import { makeChangePassword } from './change-password.js';
import type { FindAccount } from '../shared/find-account.js';
import { makeLogin } from './login.js';
import { makeLoginByEmailCode } from './login-by-email-code.js';
import { makeLogout } from './logout.js';
import { makeCheckPresentPassword } from './present-password.js';
import { makeReauthenticate } from './reauthenticate.js';
import { makeRefresh } from './refresh.js';
import type { OnUncheckable } from '../shared/refuse-uncheckable.js';
import { makeRevokeSession } from './revoke-session.js';
import { makeSendEmailCode } from './send-email-code.js';
import type { StartSession } from './start-session.js';
import type { TryLoginCode } from './try-login-code.js';
import { makeGuardedTries } from '../../security/guarded-tries.js';
import { guessing } from '../../security/guessing.js';
import type { KnownNetworks } from '../../security/known-networks.js';

export function makeSessionCommands(
  deps: Deps & {
    readonly findAccount: FindAccount;
    readonly startSession: StartSession;
    readonly networks: KnownNetworks;
    readonly passwordTries: AccountTries;
    readonly tryLoginCode: TryLoginCode;
  },
) {
  const onUncheckable: OnUncheckable = (error) => {
    deps.onFailure(`the password of a user could not be checked: ${error.message}`, error);
  };
  const checkPresentPassword = makeCheckPresentPassword({
    ...deps,
    onUncheckable,
    tries: makeGuardedTries({ ...deps, ...guessing.presentPassword.failures }),
  });
  return {
    login: makeLogin({
      ...deps,
      onUncheckable,
      tries: makeGuardedTries({ ...deps, ...guessing.password.failures }),
      onRehashFailed: (error) => {
        deps.onFailure('a password could not be rehashed', error);
      },
    }),
    sendEmailCode: makeSendEmailCode(deps),
    loginByEmailCode: makeLoginByEmailCode(deps),
    refresh: makeRefresh(deps),
    logout: makeLogout(deps),
    revokeSession: makeRevokeSession(deps),
    changePassword: makeChangePassword({ ...deps, checkPresentPassword }),
    reauthenticate: makeReauthenticate({ ...deps, checkPresentPassword }),
  };
}
