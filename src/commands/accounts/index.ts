import type { Deps } from '../deps.js';
import { makeAccountByAddress } from './account-by-address.js';
import { makeAddressReservations } from './address-reservations.js';
import { makeGrantPlatformRole, makeRevokePlatformRole } from './change-platform-role.js';
import { makeChangeProfile } from './change-profile.js';
import { makeConfirmEmailChange } from './confirm-email-change.js';
import { makeConfirmTotp } from './confirm-totp.js';
import { makeEnrolTotp } from './enrol-totp.js';
import { makeEraseUser } from './erase-user.js';
import { makeFinishEmailChange } from './finish-email-change.js';
import { makeFinishErasure } from './finish-erasure.js';
import { makeIssueRecoveryCodes } from './issue-recovery-codes.js';
import { makePassSecondFactor } from './pass-second-factor.js';
import { makeRemoveErasedMember } from '../shared/remove-erased-member.js';
import { makeCheckRegistration, makeRegister } from './register.js';
import { makeRemoveTotp } from './remove-totp.js';
import { makeReplaceRecoveryCodes } from './replace-recovery-codes.js';
import { makeRequestEmailChange } from './request-email-change.js';
import { makeSecondFactors } from './second-factors.js';
import { makeSessionTokens } from './session-tokens.js';
import { makeSessionCommands } from './session-commands.js';
import { makeStartSession } from './start-session.js';
import { makeVerifyEmail } from './verify-email.js';
import type { FindAccount } from '../shared/find-account.js';
import { makeGuardedTries } from '../../security/guarded-tries.js';
import { guessing } from '../../security/guessing.js';

export function makeAccountCommands(
  deps: Deps & {
    readonly findAccount: FindAccount;
  },
) {
  const startSession = makeStartSession(deps);
  const common = {
    ...deps,
    startSession,
    reservations: makeAddressReservations(deps),
    accountByAddress: makeAccountByAddress(deps),
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
    register: makeRegister(common),
    checkRegistration: makeCheckRegistration(common),
    ...makeSessionCommands(common),
    changeProfile: makeChangeProfile(common),
    verifyEmail: makeVerifyEmail(common),
    grantPlatformRole: makeGrantPlatformRole(common),
    revokePlatformRole: makeRevokePlatformRole(common),
    requestEmailChange: makeRequestEmailChange(common),
    confirmEmailChange: makeConfirmEmailChange({ ...common, finishEmailChange }),
    finishEmailChange,
    eraseUser: makeEraseUser({ ...common, finishErasure }),
    finishErasure,
    enrolTotp: makeEnrolTotp(common),
    confirmTotp: makeConfirmTotp({ ...common, secondFactors, issueRecoveryCodes }),
    removeTotp: makeRemoveTotp({ ...common, secondFactors }),
    replaceRecoveryCodes: makeReplaceRecoveryCodes({ ...common, secondFactors, issueRecoveryCodes }),
    passSecondFactor: makePassSecondFactor({ ...common, secondFactors, sessionTokens }),
  };
}
