import type { AccountDeps } from '../../deps.js';
import type { AccountTries } from '../signing-in/account-tries.js';
import { makeChangePassword } from '../account/change-password.js';
import type { EndGivenAccess } from '../account/end-given-access.js';
import type { FindAccount } from '../signing-in/find-account.js';
import { makeLogin } from '../signing-in/login.js';
import { makeLoginByEmailCode } from '../signing-in/login-by-email-code.js';
import { makeLogout } from './logout.js';
import type { PassPasskey } from '../passkeys/pass-passkey.js';
import { makeCheckPresentPassword } from '../signing-in/present-password.js';
import { makeReauthenticate } from '../signing-in/reauthenticate.js';
import { makeRefresh } from './refresh.js';
import type { OnUncheckable } from '../signing-in/refuse-uncheckable.js';
import { makeRevokeSession } from './revoke-session.js';
import { makeSendEmailCode } from '../signing-in/send-email-code.js';
import type { StartSession } from './start-session.js';
import type { TryLoginCode } from '../signing-in/try-login-code.js';
import { makeGuardedTries } from '../../../../security/guessing/guarded-tries.js';
import { guessing } from '../../../../security/guessing/guessing.js';
import type { KnownNetworks } from '../../../../security/guessing/known-networks.js';

export function makeSessionCommands(
  deps: AccountDeps & {
    readonly findAccount: FindAccount;
    readonly startSession: StartSession;
    readonly endGivenAccess: EndGivenAccess;
    readonly networks: KnownNetworks;
    readonly passwordTries: AccountTries;
    readonly tryLoginCode: TryLoginCode;
    readonly passPasskey: PassPasskey;
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
