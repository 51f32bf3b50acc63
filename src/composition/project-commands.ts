import { makeAcceptInvitation } from '../commands/accept-invitation.js';
import { makeAddMember } from '../commands/add-member.js';
import { makeGrantEntitlement, makeRevokeEntitlement } from '../commands/change-entitlement.js';
import { makeChangeMemberRole } from '../commands/change-member-role.js';
import { makeChangeProject } from '../commands/change-project.js';
import { makeCreateProject } from '../commands/create-project.js';
import { makeDeleteProject } from '../commands/delete-project.js';
import type { FindAccount } from '../commands/find-account.js';
import { makeForgetInvitations } from '../commands/forget-invitations.js';
import { type InvitationLimitName, makeCountInvitation } from '../commands/invitation-limits.js';
import { makeIssueApiKey } from '../commands/issue-api-key.js';
import { makeRemoveErasedMember } from '../commands/remove-erased-member.js';
import { makeRemoveMember } from '../commands/remove-member.js';
import { makeRevokeApiKey } from '../commands/revoke-api-key.js';
import { makeVerifiedHolder } from '../commands/verified-holder.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import type { Digests } from '../keys/digests.js';
import type { RandomBytes } from '../keys/random-bytes.js';
import type { Sealer } from '../keys/sealer.js';
import type { RateLimit } from '../security/gcra.js';
import { makeSharedRateLimiter } from '../security/shared-rate-limit.js';
import type { Readers } from './readers.js';

/** Puts the use cases of projects, their members and their API keys together. */
export function makeProjectCommands(deps: {
  readonly handler: CommandHandler;
  readonly sealer: Sealer;
  readonly digests: Digests;
  readonly randomBytes: RandomBytes;
  readonly findAccount: FindAccount;
  readonly readers: Pick<Readers, 'apiKeys' | 'members' | 'projects'>;
  /** Whether the service can send mail. */
  readonly mailConfigured: boolean;
  readonly stateStore: StateStore;
  readonly clock: Clock;
  readonly invitationLimits: Readonly<Record<InvitationLimitName, RateLimit>>;
}) {
  const { apiKeys, members, projects } = deps.readers;
  const verifiedHolder = makeVerifiedHolder(deps);
  const countInvitation = makeCountInvitation({
    limiter: makeSharedRateLimiter({ ...deps, limits: deps.invitationLimits }),
  });
  return {
    createProject: makeCreateProject({ ...deps, projects }),
    changeProject: makeChangeProject({ ...deps, projects }),
    deleteProject: makeDeleteProject(deps),
    grantEntitlement: makeGrantEntitlement(deps),
    revokeEntitlement: makeRevokeEntitlement(deps),
    addMember: makeAddMember({ ...deps, verifiedHolder, members, countInvitation }),
    changeMemberRole: makeChangeMemberRole({ ...deps, members }),
    removeMember: makeRemoveMember(deps),
    acceptInvitation: makeAcceptInvitation({ ...deps, verifiedHolder }),
    forgetInvitations: makeForgetInvitations(deps),
    removeErasedMember: makeRemoveErasedMember(deps),
    issueApiKey: makeIssueApiKey({ ...deps, apiKeys }),
    revokeApiKey: makeRevokeApiKey(deps),
  };
}
