import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { projectAggregate } from '../../domain/project/project.js';
import { rejectProject } from '../../domain/project/rejections.js';
import type { Role } from '../../domain/role.js';
import type { MemberResource } from '../../../projections/members/reader.js';

export interface ChangeMemberRoleInput {
  readonly projectId: string;
  readonly actorId: string;
  /** The id of a user or of an invitation. */
  readonly memberId: string;
  readonly role: Role;
}

/**
 * Changes a role. The API keys of a member who is no longer an admin end.
 * @throws CommandRejected project_not_found, member_not_found, insufficient_role, last_owner
 */
export type ChangeMemberRole = (
  input: ChangeMemberRoleInput,
  context: CommandContext,
) => Promise<MemberResource>;

export function makeChangeMemberRole({
  handler,
  members,
}: Pick<Deps, 'handler' | 'members'>): ChangeMemberRole {
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
