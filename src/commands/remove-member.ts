import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { projectAggregate } from '../domain/project/project.js';

export interface RemoveMemberInput {
  readonly projectId: string;
  readonly actorId: string;
  /** Of a user, who loses all access and the API keys that they issued; or of an invitation, which is withdrawn. */
  readonly memberId: string;
}

/** Removes a member; everybody may leave. @throws CommandRejected project_not_found, member_not_found, insufficient_role, last_owner */
export type RemoveMember = (input: RemoveMemberInput, context: CommandContext) => Promise<void>;

export function makeRemoveMember({ handler }: { readonly handler: CommandHandler }): RemoveMember {
  return async ({ projectId, actorId, memberId }, context) => {
    await handler.handle(
      { aggregate: projectAggregate, id: projectId },
      { type: 'RemoveMember', actorId, memberId },
      context,
      { revokesAccess: true },
    );
  };
}
