import type { KnownDevices } from '../signing-in/known-devices.js';
import type { AccountDeps } from '../../deps.js';
import { makeRemovePasskey, makeRenamePasskey } from './change-passkeys.js';
import type { IssueRecoveryCodes } from '../second-factor/issue-recovery-codes.js';
import { makeLoginByPasskey } from './login-by-passkey.js';
import type { PassPasskey } from './pass-passkey.js';
import { makePasskeyOptions } from './passkey-options.js';
import { makeRegisterPasskey } from './register-passkey.js';
import type { StartSession } from '../sessions/start-session.js';

export function makePasskeyCommands(
  deps: AccountDeps & {
    readonly startSession: StartSession;
    readonly passPasskey: PassPasskey;
    readonly issueRecoveryCodes: IssueRecoveryCodes;
    readonly knownDevices: Pick<KnownDevices, 'complete' | 'noteSession'>;
  },
) {
  return {
    passkeyOptions: makePasskeyOptions(deps),
    registerPasskey: makeRegisterPasskey(deps),
    renamePasskey: makeRenamePasskey(deps),
    removePasskey: makeRemovePasskey(deps),
    loginByPasskey: makeLoginByPasskey(deps),
  };
}
