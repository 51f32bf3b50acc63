import type { AccountByAddress } from '../commands/account-by-address.js';
import type { AddressReservations } from '../commands/address-reservations.js';
import { makeGrantPlatformRole, makeRevokePlatformRole } from '../commands/change-platform-role.js';
import { makeChangeProfile } from '../commands/change-profile.js';
import { makeConfirmEmailChange } from '../commands/confirm-email-change.js';
import { makeConfirmTotp } from '../commands/confirm-totp.js';
import { makeEnrolTotp } from '../commands/enrol-totp.js';
import { makeEraseUser } from '../commands/erase-user.js';
import { makeFinishEmailChange } from '../commands/finish-email-change.js';
import { makeFinishErasure } from '../commands/finish-erasure.js';
import { makeIssueRecoveryCodes } from '../commands/issue-recovery-codes.js';
import { makePassSecondFactor } from '../commands/pass-second-factor.js';
import { makeRemoveErasedMember } from '../commands/remove-erased-member.js';
import { makeRemoveTotp } from '../commands/remove-totp.js';
import { makeReplaceRecoveryCodes } from '../commands/replace-recovery-codes.js';
import { makeRequestEmailChange } from '../commands/request-email-change.js';
import { makeSecondFactors } from '../commands/second-factors.js';
import { makeSessionTokens } from '../commands/session-tokens.js';
import { makeVerifyEmail } from '../commands/verify-email.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import type { Digests } from '../keys/digests.js';
import type { MailedCodes } from '../keys/login-codes.js';
import type { RandomBytes } from '../keys/random-bytes.js';
import type { RefreshTokens } from '../keys/refresh-tokens.js';
import type { Sealer } from '../keys/sealer.js';
import type { AccessTokens } from '../security/access-tokens.js';
import { accountCodeThrottle, signInThrottle } from '../security/failure-throttle.js';
import { makeGuardedTries } from '../security/guarded-tries.js';
import type { Readers } from './readers.js';

/** Puts together what people do with their own accounts, once they are signed in, and operators with those of others. */
export function makeAccountCommands(deps: {
  readonly clock: Clock;
  readonly handler: CommandHandler;
  readonly readers: Readers;
  readonly reservations: AddressReservations;
  readonly accountByAddress: AccountByAddress;
  readonly stateStore: StateStore;
  readonly randomBytes: RandomBytes;
  readonly sealer: Sealer;
  readonly digests: Digests;
  readonly accessTokens: AccessTokens;
  readonly refreshTokens: RefreshTokens;
  readonly addressChangeCodes: MailedCodes;
  readonly mailConfigured: boolean;
}) {
  const { users, sessions, projects } = deps.readers;
  const sessionTokens = makeSessionTokens(deps);
  const secondFactors = makeSecondFactors({
    ...deps,
    tries: makeGuardedTries({ ...deps, name: 'two-factor', limits: signInThrottle }),
    accountTries: makeGuardedTries({
      ...deps,
      name: 'two-factor-account',
      limits: accountCodeThrottle,
      onSuccess: 'withdraw',
    }),
  });
  const issueRecoveryCodes = makeIssueRecoveryCodes(deps);
  const finishEmailChange = makeFinishEmailChange(deps);
  const removeErasedMember = makeRemoveErasedMember(deps);
  const finishErasure = makeFinishErasure({ ...deps, sessions, projects, removeErasedMember });
  return {
    changeProfile: makeChangeProfile({ ...deps, users }),
    verifyEmail: makeVerifyEmail(deps),
    grantPlatformRole: makeGrantPlatformRole(deps),
    revokePlatformRole: makeRevokePlatformRole(deps),
    requestEmailChange: makeRequestEmailChange(deps),
    confirmEmailChange: makeConfirmEmailChange({ ...deps, finishEmailChange }),
    finishEmailChange,
    eraseUser: makeEraseUser({ ...deps, projects, finishErasure }),
    finishErasure,
    enrolTotp: makeEnrolTotp(deps),
    confirmTotp: makeConfirmTotp({ ...deps, secondFactors, issueRecoveryCodes }),
    removeTotp: makeRemoveTotp({ ...deps, secondFactors }),
    replaceRecoveryCodes: makeReplaceRecoveryCodes({ ...deps, secondFactors, issueRecoveryCodes }),
    passSecondFactor: makePassSecondFactor({ ...deps, secondFactors, sessionTokens }),
  };
}
