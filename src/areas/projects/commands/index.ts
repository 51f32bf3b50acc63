import type { ProjectDeps } from '../deps.js';
import { makeAcceptInvitation } from './invitations/accept-invitation.js';
import { makeAcceptOffer, makeDeclineOffer } from './invitations/answer-invitation.js';
import { makeAddMember } from './members/add-member.js';
import { makeCountNotice } from './members/count-notice.js';
import { makeChangeMemberRole } from './members/change-member-role.js';
import { makeProjects } from './projects.js';
import type { FindAccount } from '../../accounts/commands/finding.js';
import { makeForgetInvitations } from './invitations/forget-invitations.js';
import { makeCountInvitation } from './invitations/invitation-limits.js';
import { makeIssueApiKey } from './api-keys/issue-api-key.js';
import type { CountLimit } from '../../shared/count-limit.js';
import { makeOfferBilling, makeWithdrawBillingOffer } from './offer-billing.js';
import { makeLeaving } from './members/leaving.js';
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
    ...makeProjects(deps),
    ...makeLeaving(deps),
    addMember: makeAddMember({ ...deps, verifiedHolder, requireProved, countInvitation }),
    changeMemberRole: makeChangeMemberRole({ ...deps, acceptInvitation, countNotice }),
    acceptInvitation,
    acceptOffer: makeAcceptOffer(deps),
    declineOffer: makeDeclineOffer(deps),
    offerBilling: makeOfferBilling({ ...deps, countNotice }),
    withdrawBillingOffer: makeWithdrawBillingOffer(deps),
    ...makeForgetInvitations(deps),
    issueApiKey: makeIssueApiKey({ ...deps, requireProved }),
    revokeApiKey: makeRevokeApiKey(deps),
  };
}
