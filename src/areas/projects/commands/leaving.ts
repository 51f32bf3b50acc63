import type { ProjectDeps } from '../deps.js';
import { stepContext } from '../../../event-sourcing/deciding/command-handler.js';
import { on } from '../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Page } from '../../../event-sourcing/views/views.js';
import type { Holdings } from '../../accounts/commands/erasing.js';
import { userAggregate } from '../../accounts/domain/user/user.js';
import { everyId } from '../../shared/deps.js';
import { whenRejected } from '../../shared/rejections.js';
import { roleIn } from '../domain/project/fold.js';
import { joinedBy, joining } from '../domain/project/members.js';
import { type ExistingProject, projectAggregate, type ProjectState } from '../domain/project/project.js';
import { type ProjectRejection, rejectProject } from '../domain/project/rejections.js';

type Leaving = ReturnType<typeof makeLeaving>;

/** Makes the use cases that end memberships, and the reaction that ends late ones. */
export function makeLeaving({ handler }: Pick<ProjectDeps, 'handler'>) {
  return {
    /**
     * Removes a member. Every member may leave.
     * @param input.memberId the id of a user, whose access and API keys end, or of an invitation, which is withdrawn
     * @throws CommandRejected project_not_found, member_not_found, insufficient_role, last_owner
     */
    removeMember: async (
      input: { readonly projectId: string; readonly actorId: string; readonly memberId: string },
      context: CommandContext,
    ): Promise<void> => {
      const { projectId, ...removal } = input;
      await handler.handle(projectAggregate.at(projectId), { type: 'RemoveMember', ...removal }, context, {
        revokesAccess: true,
      });
    },
    removeErasedMember,
    /**
     * Ends memberships that began during the erasure of their account. The erasure ends those before it in the log; this
     * reaction ends those that were decided earlier but appended later.
     */
    removeErasedMembers: on(projectAggregate, joining, {
      name: 'remove-erased-members',
      isDue: () => Promise.resolve(true),
      run: (projectId, context, event) => removeErasedMember({ projectId, userId: joinedBy(event) }, context),
    }),
  };

  /** Ends the membership of an erased account; does nothing while the account exists. */
  async function removeErasedMember(
    { projectId, userId }: { readonly projectId: string; readonly userId: string },
    context: CommandContext,
  ): Promise<void> {
    const { state } = await handler.load(userAggregate, userId);
    if (state.status !== 'erased') return;
    const command = { type: 'RemoveErasedMember', userId } as const;
    await handler.handle(projectAggregate.at(projectId), command, context, { revokesAccess: true });
  }
}

/** What an account has in projects: its memberships, and the access that it gave. */
export function makeProjectHoldings(
  deps: Pick<ProjectDeps, 'handler' | 'projects' | 'members'> & {
    /** Says whether an order was placed for the project that has not failed, expired or been canceled. */
    readonly hasOrder: (of: { readonly projectId: string }) => Promise<boolean>;
    readonly removeErasedMember: Leaving['removeErasedMember'];
  },
): Holdings {
  const { handler, projects, members, removeErasedMember, hasOrder } = deps;
  return {
    keepUnproved: async (userId, now) => {
      for await (const projectId of everyId((page) => projectIds(userId, page))) {
        const { state } = await handler.load(projectAggregate, projectId);
        if (state.status === 'existing' && (await keepsUnproved(projectId, state, now))) return true;
      }
      return false;
    },
    deleteOwnedAlone: async (userId, context) => {
      // Every project is judged before the first is deleted.
      for (const projectId of await projectsOwnedAlone(userId))
        await deleteProject(projectId, userId, context);
    },
    removeErasedMember: async (userId, context) => {
      for await (const projectId of everyId((page) => projectIds(userId, page))) {
        await removeErasedMember({ projectId, userId }, context);
      }
      await endInvitations(userId, context);
    },
    endGiven: async (ended, context) => {
      for await (const id of everyId((page) => projectIds(ended.userId, page))) {
        await handler.handle(projectAggregate.at(id), { type: 'EndGivenAccess', ...ended }, context, {
          revokesAccess: true,
        });
      }
    },
  };

  /** Ends the open invitations to an erased person, whose address they seal. An address that was not proved may be a stranger's. */
  async function endInvitations(userId: string, context: CommandContext): Promise<void> {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'erased') return;
    for (const email_digest of user.provedDigests) {
      for (const { projectId, invitationId } of await members.invitationsTo(email_digest)) {
        const command = { type: 'EndInvitation', invitationId, erasedAt: user.erasedAt } as const;
        await handler.handle(projectAggregate.at(projectId), command, stepContext(context, invitationId));
      }
    }
  }

  async function keepsUnproved(projectId: string, project: ExistingProject, now: Date): Promise<boolean> {
    const hasKey = project.api_keys.some(({ expires_at }) => new Date(expires_at) > now);
    return project.members.length > 1 || hasKey || hasOrder({ projectId });
  }

  async function projectIds(userId: string, page: Page): Promise<readonly string[]> {
    return (await projects.list(userId, page)).map(({ resource }) => resource.id);
  }

  async function projectsOwnedAlone(userId: string): Promise<readonly string[]> {
    const alone: string[] = [];
    for await (const projectId of everyId((page) => projectIds(userId, page))) {
      const { state } = await handler.load(projectAggregate, projectId);
      switch (standing(state, userId)) {
        case 'alone':
          alone.push(projectId);
          break;
        case 'needed':
          rejectProject(
            'project_has_members',
            `the project ${projectId} has other members and no other owner; make one of them owner, or delete it`,
          );
          break;
        case 'payer':
          rejectProject(
            'project_has_members',
            `the project ${projectId} is billed to this account; another owner takes the billing first, or delete it`,
          );
          break;
        case 'dispensable':
      }
    }
    return alone;
  }

  async function deleteProject(projectId: string, userId: string, context: CommandContext): Promise<void> {
    const command = { type: 'DeleteIfAlone', userId } as const;
    await handler
      .handle(projectAggregate.at(projectId), command, context, { revokesAccess: true })
      // Another owner joined meanwhile and removed the user.
      .catch(whenRejected<ProjectRejection>('member_not_found')(() => undefined));
  }
}

/** Says whether the user is the only member of the project, its only owner, its payer, or dispensable. */
function standing(state: ProjectState, userId: string): 'alone' | 'needed' | 'payer' | 'dispensable' {
  if (state.status !== 'existing' || roleIn(state, userId) !== 'owner') return 'dispensable';
  const others = state.members.filter(({ user_id }) => user_id !== userId);
  if (others.length === 0) return 'alone';
  if (!others.some(({ role }) => role === 'owner')) return 'needed';
  return state.billed_to === userId ? 'payer' : 'dispensable';
}
