import type { AccountDeps } from '../deps.js';
import { makeDevices } from '../../../security/guessing/devices.js';
import { guessing } from '../../../security/guessing/guessing.js';
import { makeAccountGuard, makeKnownDevices } from './signing-in/known-devices.js';
import { makeAddressReservations } from './email/address-reservations.js';
import { makeEmailChangeCommands } from './email/email-change.js';
import { makeEmailReverts } from './email/email-revert.js';
import { makeEmailVerificationCommands, makeVerificationIssues } from './email/email-verification.js';
import { type Holdings, makeEndGivenAccess, makeErasing } from './erasing.js';
import { type FindAccount, makeAccountLookup } from './finding.js';
import { makeLoginCodeCommands } from './signing-in/login-codes.js';
import { makeAccountChanges } from './operating.js';
import { makePassPasskey } from './factors/passkey-proofs.js';
import { makePasskeyCommands } from './factors/passkeys.js';
import { makePasswordCommands } from './signing-in/passwords.js';
import { makeChangeProfile } from './profile.js';
import { makeReauthenticate } from './signing-in/reauthenticating.js';
import { makeRefresh } from './signing-in/refreshing.js';
import { makeRegistering } from './registering.js';
import { makePassSecondFactor, makeSecondFactors } from './factors/second-factors.js';
import { makeSessionTokens, makeSessions } from './signing-in/sessions.js';
import { makeTotpCommands } from './factors/totp.js';
import { makeTryLoginCode } from './signing-in/try-login-code.js';
import { makePurgeUnproved } from './email/unproved.js';

export type AccountCommands = ReturnType<typeof makeAccountCommands>;

export function makeAccountCommands(
  deps: AccountDeps & { readonly findAccount: FindAccount; readonly holdings: Holdings },
) {
  const knownDevices = makeKnownDevices({ ...deps, devices: makeDevices(deps) });
  const sessions = makeSessions({ ...deps, knownDevices });
  const ownerOf = async (email_digest: string) => (await deps.findAccount(email_digest))?.userId ?? null;
  const ofPassword = { secret: 'password', limits: guessing.password.failures, ownerOf } as const;
  const ofMailedCode = { secret: 'mailed_code', limits: guessing.signInCode.failures, ownerOf } as const;
  const ofFactor = { secret: 'totp', limits: guessing.secondFactor.failures } as const;
  const mailedCodeGuard = makeAccountGuard({ ...deps, ...ofMailedCode });
  const common = {
    ...deps,
    startSession: sessions.startSession,
    knownDevices,
    mailedCodeGuard,
    passwordGuard: makeAccountGuard({ ...deps, ...ofPassword }),
    tryLoginCode: makeTryLoginCode({ ...deps, mailedCodeGuard }),
    passPasskey: makePassPasskey(deps),
    reservations: makeAddressReservations(deps),
    verificationIssues: makeVerificationIssues(deps),
    endGivenAccess: makeEndGivenAccess(deps),
    secondFactors: makeSecondFactors({
      ...deps,
      codeGuard: makeAccountGuard({
        ...{ ...deps, ...ofFactor },
        ownerOf: (userId) => Promise.resolve(userId),
      }),
    }),
  };
  const lookup = makeAccountLookup(common);
  const erasing = makeErasing(common);
  const { checkPresentPassword, ...passwords } = makePasswordCommands(common);
  return {
    reservations: common.reservations,
    knownDevices,
    endGivenAccess: common.endGivenAccess,
    accountByName: lookup.accountByName,
    ...sessions,
    ...passwords,
    ...erasing,
    ...makeRegistering(common),
    ...makeLoginCodeCommands(common),
    refresh: makeRefresh(common),
    reauthenticate: makeReauthenticate({ ...common, checkPresentPassword }),
    changeProfile: makeChangeProfile(common),
    ...makeEmailVerificationCommands(common),
    ...makeEmailChangeCommands(common),
    ...makeEmailReverts(common),
    purgeUnproved: makePurgeUnproved({ ...common, ...erasing }),
    ...makeAccountChanges({ ...common, ...lookup }),
    ...makeTotpCommands(common),
    ...makePasskeyCommands(common),
    passSecondFactor: makePassSecondFactor({ ...common, sessionTokens: makeSessionTokens(deps) }),
  };
}
