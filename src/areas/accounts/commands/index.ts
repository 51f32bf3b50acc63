import type { AccountDeps } from '../deps.js';
import { makeAccountGuard } from './signing-in/account-guard.js';
import { makeKnownDevices } from './signing-in/known-devices.js';
import { makeAccountByAddress, makeAccountByName } from './registering/account-by-address.js';
import { makeAddressReservations } from './registering/address-reservations.js';
import { makeAccountChanges } from './account/change-account.js';
import { makeGrantPlatformRole, makeRevokePlatformRole } from './account/change-platform-role.js';
import { makeChangeProfile } from './account/change-profile.js';
import { makeConfirmEmailChange } from './address/confirm-email-change.js';
import { makeConfirmEmailVerification } from './address/confirm-email-verification.js';
import { makeConfirmTotp } from './second-factor/confirm-totp.js';
import { makeEmailVerificationIssues } from './address/email-verification-issues.js';
import { makeEndGivenAccess } from './account/end-given-access.js';
import { makeEnrolTotp } from './second-factor/enrol-totp.js';
import { makeEraseUser } from './account/erase-user.js';
import { makeFinishEmailChange } from './address/finish-email-change.js';
import { makeFinishErasure } from './account/finish-erasure.js';
import { makeIssueRecoveryCodes } from './second-factor/issue-recovery-codes.js';
import { makePassSecondFactor } from './second-factor/pass-second-factor.js';
import { makePassPasskey } from './passkeys/pass-passkey.js';
import { makePasskeyCommands } from './passkeys/passkey-commands.js';
import { makePurgeUnproved } from './registering/purge-unproved.js';
import { makeCheckRegistration, makeRegister } from './registering/register.js';
import { makeRemoveTotp } from './second-factor/remove-totp.js';
import { makeReplaceRecoveryCodes } from './second-factor/replace-recovery-codes.js';
import { makeRequestEmailChange } from './address/request-email-change.js';
import { makeRequestEmailVerification } from './address/request-email-verification.js';
import { makeRestoreAddress, makeRevertEmailChange } from './address/revert-email-change.js';
import { makeSecondFactors } from './second-factor/second-factors.js';
import { makeSessionTokens } from './sessions/session-tokens.js';
import { makeSessionCommands } from './sessions/session-commands.js';
import { makeLimitSessions } from './sessions/limit-sessions.js';
import { makeStartSession } from './sessions/start-session.js';
import { makeTryLoginCode } from './signing-in/try-login-code.js';
import { makeVerifyEmail } from './address/verify-email.js';
import type { FindAccount } from './signing-in/find-account.js';
import type { Holdings } from './account/holdings.js';
import { guessing } from '../../../security/guessing/guessing.js';
import { makeDevices } from '../../../security/guessing/devices.js';

export type AccountCommands = ReturnType<typeof makeAccountCommands>;

export function makeAccountCommands(
  deps: AccountDeps & {
    readonly findAccount: FindAccount;
    readonly holdings: Holdings;
  },
) {
  const startSession = makeLimitSessions({ ...deps, startSession: makeStartSession(deps) });
  const knownDevices = makeKnownDevices({ ...deps, devices: makeDevices(deps) });
  const ownerOf = async (emailDigest: string) => (await deps.findAccount(emailDigest))?.userId ?? null;
  const ofPassword = { secret: 'password', limits: guessing.password.failures, ownerOf } as const;
  const ofMailedCode = { secret: 'mailed_code', limits: guessing.signInCode.failures, ownerOf } as const;
  const mailedCodeGuard = makeAccountGuard({ ...deps, ...ofMailedCode });
  const common = {
    ...deps,
    startSession,
    knownDevices,
    passwordGuard: makeAccountGuard({ ...deps, ...ofPassword }),
    mailedCodeGuard,
    tryLoginCode: makeTryLoginCode({ ...deps, mailedCodeGuard }),
    passPasskey: makePassPasskey(deps),
    reservations: makeAddressReservations(deps),
    accountByAddress: makeAccountByAddress(deps),
    accountByName: makeAccountByName(deps),
    verificationIssues: makeEmailVerificationIssues(deps),
    endGivenAccess: makeEndGivenAccess(deps),
  };
  const sessionTokens = makeSessionTokens(deps);
  const secondFactors = makeSecondFactors({
    ...deps,
    codeGuard: makeAccountGuard({
      ...deps,
      secret: 'totp',
      limits: guessing.secondFactor.failures,
      ownerOf: (userId) => Promise.resolve(userId),
    }),
  });
  const issueRecoveryCodes = makeIssueRecoveryCodes(deps);
  const finishEmailChange = makeFinishEmailChange(common);
  const finishErasure = makeFinishErasure(common);
  return {
    reservations: common.reservations,
    knownDevices,
    startSession,
    endGivenAccess: common.endGivenAccess,
    register: makeRegister(common),
    checkRegistration: makeCheckRegistration(common),
    ...makeSessionCommands(common),
    changeProfile: makeChangeProfile(common),
    verifyEmail: makeVerifyEmail(common),
    grantPlatformRole: makeGrantPlatformRole(common),
    revokePlatformRole: makeRevokePlatformRole(common),
    requestEmailVerification: makeRequestEmailVerification(common),
    confirmEmailVerification: makeConfirmEmailVerification(common),
    requestEmailChange: makeRequestEmailChange(common),
    confirmEmailChange: makeConfirmEmailChange({ ...common, finishEmailChange }),
    finishEmailChange,
    revertEmailChange: makeRevertEmailChange(common),
    restoreAddress: makeRestoreAddress(common),
    eraseUser: makeEraseUser({ ...common, finishErasure }),
    finishErasure,
    purgeUnproved: makePurgeUnproved({ ...common, finishErasure }),
    accountByName: common.accountByName,
    ...makeAccountChanges(common),
    enrolTotp: makeEnrolTotp(common),
    confirmTotp: makeConfirmTotp({ ...common, secondFactors, issueRecoveryCodes }),
    removeTotp: makeRemoveTotp({ ...common, secondFactors }),
    replaceRecoveryCodes: makeReplaceRecoveryCodes({ ...common, secondFactors, issueRecoveryCodes }),
    ...makePasskeyCommands({ ...common, issueRecoveryCodes }),
    passSecondFactor: makePassSecondFactor({ ...common, secondFactors, sessionTokens }),
  };
}
