import type { ProjectDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { projectAggregate } from '../../domain/project/project.js';

export interface RemoveMemberInput {
  readonly projectId: string;
  readonly actorId: string;
  /** The id of a user, whose access and API keys end, or of an invitation, which is withdrawn. */
  readonly memberId: string;
}

/**
 * Removes a member. Every member may leave.
 * @throws CommandRejected project_not_found, member_not_found, insufficient_role, last_owner
 */
export type RemoveMember = (input: RemoveMemberInput, context: CommandContext) => Promise<void>;

export function makeRemoveMember({ handler }: Pick<ProjectDeps, 'handler'>): RemoveMember {
  return async ({ projectId, actorId, memberId }, context) => {
    await handler.handle(
      { aggregate: projectAggregate, id: projectId },
      { type: 'RemoveMember', actorId, memberId },
      context,
      { revokesAccess: true },
    );
  };
}
