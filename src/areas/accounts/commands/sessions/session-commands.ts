import type { AccountDeps } from '../../deps.js';
import type { AccountGuard } from '../signing-in/account-guard.js';
import type { KnownDevices } from '../signing-in/known-devices.js';
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

export function makeSessionCommands(
  deps: AccountDeps & {
    readonly findAccount: FindAccount;
    readonly startSession: StartSession;
    readonly endGivenAccess: EndGivenAccess;
    readonly knownDevices: KnownDevices;
    readonly passwordGuard: AccountGuard;
    readonly mailedCodeGuard: AccountGuard;
    readonly tryLoginCode: TryLoginCode;
    readonly passPasskey: PassPasskey;
  },
) {
  const onUncheckable: OnUncheckable = (error) => {
    deps.onFailure(`the password of a user could not be checked: ${error.message}`, error);
  };
  const checkPresentPassword = makeCheckPresentPassword({ ...deps, onUncheckable });
  return {
    login: makeLogin({
      ...deps,
      onUncheckable,
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
