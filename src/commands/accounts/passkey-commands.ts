import type { Deps } from '../deps.js';
import { makeRemovePasskey, makeRenamePasskey } from './change-passkeys.js';
import { makeLoginByPasskey } from './login-by-passkey.js';
import { makePassPasskey } from './pass-passkey.js';
import { makePasskeyOptions } from './passkey-options.js';
import { makeRegisterPasskey } from './register-passkey.js';
import type { StartSession } from './start-session.js';

export function makePasskeyCommands(deps: Deps & { readonly startSession: StartSession }) {
  const passPasskey = makePassPasskey(deps);
  return {
    passkeyOptions: makePasskeyOptions(deps),
    registerPasskey: makeRegisterPasskey(deps),
    renamePasskey: makeRenamePasskey(deps),
    removePasskey: makeRemovePasskey(deps),
    passPasskey,
    loginByPasskey: makeLoginByPasskey({ ...deps, passPasskey }),
  };
}
