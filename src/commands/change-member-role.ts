import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import type { Role } from '../domain/role.js';
import type { MemberReader, MemberResource } from '../../projections/members/reader.js';

export interface ChangeMemberRoleInput {
  readonly projectId: string;
  readonly actorId: string;
  /** Of a user or of an invitation. */
  readonly memberId: string;
  readonly role: Role;
}

/**
 * Changes what a member may do; one who is no admin any more loses the API keys that they issued.
 * @throws CommandRejected project_not_found, member_not_found, insufficient_role, last_owner
 */
export type ChangeMemberRole = (
  input: ChangeMemberRoleInput,
  context: CommandContext,
) => Promise<MemberResource>;

export function makeChangeMemberRole({
  handler,
  members,
}: {
  readonly handler: CommandHandler;
  readonly members: Pick<MemberReader, 'after'>;
}): ChangeMemberRole {
  return async ({ projectId, actorId, memberId, role }, context) => {
    const { documents } = await handler.handle(
      { aggregate: projectAggregate, id: projectId },
      { type: 'ChangeMemberRole', actorId, memberId, role },
      context,
      { revokesAccess: true },
    );
    const member = await members.after(documents, memberId);
    return member ?? rejectProject('member_not_found', 'there is no such member');
  };
}
