import type { ProjectDeps } from '../deps.js';
import { makeAcceptInvitation } from './invitations/accept-invitation.js';
import { makeAcceptOffer, makeDeclineOffer } from './invitations/answer-invitation.js';
import { makeAddMember } from './members/add-member.js';
import { makeCountNotice } from './members/count-notice.js';
import { makeGrantEntitlement, makeRevokeEntitlement } from './change-entitlement.js';
import { makeChangeMemberRole } from './members/change-member-role.js';
import { makeChangeProject } from './change-project.js';
import { makeCreateProject } from './create-project.js';
import { makeDeleteProject } from './delete-project.js';
import type { FindAccount } from '../../accounts/commands/signing-in/find-account.js';
import { makeForgetInvitations } from './invitations/forget-invitations.js';
import { makeCountInvitation } from './invitations/invitation-limits.js';
import { makeIssueApiKey } from './api-keys/issue-api-key.js';
import type { CountLimit } from '../../shared/count-limit.js';
import { makeOfferBilling, makeWithdrawBillingOffer } from './offer-billing.js';
import { makeRemoveErasedMember } from './members/remove-erased-member.js';
import { makeRemoveMember } from './members/remove-member.js';
import { makeRequireProved } from './require-proved.js';
import { makeRevokeApiKey } from './api-keys/revoke-api-key.js';
import { makeVerifiedHolder } from './verified-holder.js';
import { makeSharedRateLimiter } from '../../../security/rates/shared-rate-limit.js';

export type ProjectCommands = ReturnType<typeof makeProjectCommands>;

export function makeProjectCommands(
  deps: ProjectDeps & {
    readonly findAccount: FindAccount;
    /** Of the projects that a user owns. */
    readonly limit: CountLimit;
  },
) {
  const verifiedHolder = makeVerifiedHolder(deps);
  const countInvitation = makeCountInvitation({
    limiter: makeSharedRateLimiter({ ...deps, limits: deps.invitationLimits }),
  });
  const requireProved = makeRequireProved(deps);
  const countNotice = makeCountNotice({ ...deps, requireProved, countInvitation });
  const acceptInvitation = makeAcceptInvitation({ ...deps, verifiedHolder });
  return {
    createProject: makeCreateProject(deps),
    changeProject: makeChangeProject(deps),
    deleteProject: makeDeleteProject(deps),
    grantEntitlement: makeGrantEntitlement(deps),
    revokeEntitlement: makeRevokeEntitlement(deps),
    addMember: makeAddMember({ ...deps, verifiedHolder, requireProved, countInvitation }),
    changeMemberRole: makeChangeMemberRole({ ...deps, acceptInvitation, countNotice }),
    removeMember: makeRemoveMember(deps),
    acceptInvitation,
    acceptOffer: makeAcceptOffer(deps),
    declineOffer: makeDeclineOffer(deps),
    offerBilling: makeOfferBilling({ ...deps, countNotice }),
    withdrawBillingOffer: makeWithdrawBillingOffer(deps),
    forgetInvitations: makeForgetInvitations(deps),
    removeErasedMember: makeRemoveErasedMember(deps),
    issueApiKey: makeIssueApiKey({ ...deps, requireProved }),
    revokeApiKey: makeRevokeApiKey(deps),
  };
}
