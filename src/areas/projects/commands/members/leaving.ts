import type { ProjectDeps } from '../../deps.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { userAggregate } from '../../../accounts/domain/user/user.js';
import { projectAggregate } from '../../domain/project/project.js';

export type Leaving = ReturnType<typeof makeLeaving>;

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
      const target = { aggregate: projectAggregate, id: projectId };
      await handler.handle(target, { type: 'RemoveMember', ...removal }, context, { revokesAccess: true });
    },
    removeErasedMember,
    /**
     * Ends memberships that began during the erasure of their account. The erasure ends those before it in the log; this
     * reaction ends those that were decided earlier but appended later.
     */
    removeErasedMembers: on(projectAggregate, ['ProjectCreated', 'MemberAdded'], {
      name: 'remove-erased-members',
      isDue: () => Promise.resolve(true),
      run: (projectId, context, { type, data }) => {
        const userId = type === 'ProjectCreated' ? data.owner_id : data.user_id;
        return removeErasedMember({ projectId, userId }, context);
      },
    }),
  };

  /** Ends the membership of an erased account; does nothing while the account exists. */
  async function removeErasedMember(
    { projectId, userId }: { readonly projectId: string; readonly userId: string },
    context: CommandContext,
  ): Promise<void> {
    const { state } = await handler.load(userAggregate, userId);
    if (state.status !== 'erased') return;
    const target = { aggregate: projectAggregate, id: projectId };
    const command = { type: 'RemoveErasedMember', userId } as const;
    await handler.handle(target, command, context, { revokesAccess: true });
  }
}
