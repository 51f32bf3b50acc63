import type { Deps } from '../deps.js';
import { makeAccountTries } from './account-tries.js';
import { makeAccountByAddress, makeAccountByName } from './account-by-address.js';
import { makeAddressReservations } from './address-reservations.js';
import { makeAccountChanges } from './change-account.js';
import { makeGrantPlatformRole, makeRevokePlatformRole } from './change-platform-role.js';
import { makeChangeProfile } from './change-profile.js';
import { makeConfirmEmailChange } from './confirm-email-change.js';
import { makeConfirmEmailVerification } from './confirm-email-verification.js';
import { makeConfirmTotp } from './confirm-totp.js';
import { makeEmailVerificationIssues } from './email-verification-issues.js';
import { makeEndGivenAccess } from './end-given-access.js';
import { makeEnrolTotp } from './enrol-totp.js';
import { makeEraseUser } from './erase-user.js';
import { makeFinishEmailChange } from './finish-email-change.js';
import { makeFinishErasure } from './finish-erasure.js';
import { makeIssueRecoveryCodes } from './issue-recovery-codes.js';
import { makePassSecondFactor } from './pass-second-factor.js';
import { makePassPasskey } from './pass-passkey.js';
import { makePasskeyCommands } from './passkey-commands.js';
import { makeRemoveErasedMember } from '../shared/remove-erased-member.js';
import { makePurgeUnproved } from './purge-unproved.js';
import { makeCheckRegistration, makeRegister } from './register.js';
import { makeRemoveTotp } from './remove-totp.js';
import { makeReplaceRecoveryCodes } from './replace-recovery-codes.js';
import { makeRequestEmailChange } from './request-email-change.js';
import { makeRequestEmailVerification } from './request-email-verification.js';
import { makeRestoreAddress, makeRevertEmailChange } from './revert-email-change.js';
import { makeSecondFactors } from './second-factors.js';
import { makeSessionTokens } from './session-tokens.js';
import { makeSessionCommands } from './session-commands.js';
import { makeLimitSessions } from './limit-sessions.js';
import { makeStartSession } from './start-session.js';
import { makeTryLoginCode } from './try-login-code.js';
import { makeVerifyEmail } from './verify-email.js';
import type { FindAccount } from '../shared/find-account.js';
import type { Places } from '../shared/places.js';
import { makeGuardedTries } from '../../security/guarded-tries.js';
import { guessing } from '../../security/guessing.js';
import { makeKnownNetworks } from '../../security/known-networks.js';

export function makeAccountCommands(
  deps: Deps & {
    readonly findAccount: FindAccount;
    readonly projectPlaces: Pick<Places, 'noteNew'>;
  },
) {
  const startSession = makeLimitSessions({ ...deps, startSession: makeStartSession(deps) });
  const networks = makeKnownNetworks(deps);
  const bounded = { ...deps, networks };
  const passwordTries = makeAccountTries({
    ...bounded,
    secret: 'password',
    limits: guessing.password.daily,
  });
  const codeTries = makeAccountTries({
    ...bounded,
    secret: 'mailed_code',
    limits: guessing.signInCode.daily,
  });
  const common = {
    ...deps,
    startSession,
    networks,
    passwordTries,
    tryLoginCode: makeTryLoginCode({ ...deps, codeTries }),
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
    tries: makeGuardedTries({ ...deps, ...guessing.secondFactor.failures }),
    accountTries: makeGuardedTries({ ...deps, ...guessing.secondFactor.accountFailures }),
  });
  const issueRecoveryCodes = makeIssueRecoveryCodes(deps);
  const finishEmailChange = makeFinishEmailChange(common);
  const removeErasedMember = makeRemoveErasedMember(common);
  const finishErasure = makeFinishErasure({ ...common, removeErasedMember });
  return {
    reservations: common.reservations,
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
    ...makePasskeyCommands(common),
    passSecondFactor: makePassSecondFactor({ ...common, secondFactors, sessionTokens }),
  };
}
