import type { ProjectDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { derivedId, stepContext } from '../../../../event-sourcing/deciding/ids.js';
import { projectAggregate } from '../../domain/project/project.js';
import { rejectProject } from '../../domain/project/rejections.js';
import { invitationOf } from '../../domain/project/fold.js';
import type { Role } from '../../domain/role.js';
import type { MemberResource } from '../../../../../projections/projects/members/reader.js';
import type { AcceptInvitation } from '../invitations/accept-invitation.js';
import type { CountNotice } from './count-notice.js';
import type { ActingSession } from '../require-proved.js';

export interface ChangeMemberRoleInput {
  readonly projectId: string;
  readonly actorId: string;
  readonly session: ActingSession;
  /** The id of a user or of an invitation. */
  readonly memberId: string;
  readonly role: Role;
}

/**
 * Changes a role; offers that of an owner. The API keys of a member who is no longer an admin end, and the invitations that
 * the member could not make any more.
 * @throws CommandRejected project_not_found, member_not_found, insufficient_role, last_owner, payer_needed,
 * email_not_verified, session_ended; TooManyAttempts beyond the limits on invitations, for a higher role
 */
export type ChangeMemberRole = (
  input: ChangeMemberRoleInput,
  context: CommandContext,
) => Promise<MemberResource>;

export function makeChangeMemberRole({
  handler,
  members,
  acceptInvitation,
  countNotice,
}: Pick<ProjectDeps, 'handler' | 'members'> & {
  readonly acceptInvitation: AcceptInvitation;
  readonly countNotice: CountNotice;
}): ChangeMemberRole {
  return async ({ projectId, actorId, session, memberId, role }, context) => {
    const offerId = derivedId(context, 'offer');
    const made = { offerId, now: context.time };
    const command = { type: 'ChangeMemberRole', actorId, memberId, role, ...made } as const;
    await countNotice({ projectId, actorId, session, userId: memberId }, command);
    const { documents } = await handler.handle(
      { aggregate: projectAggregate, id: projectId },
      command,
      context,
      { revokesAccess: true },
    );
    const member = await members.after(documents, memberId, context.time);
    if (role !== 'owner') await acceptOwnersInvitation(projectId, memberId, context);
    return member ?? rejectProject('member_not_found', 'there is no such member');
  };

  /** An invitation of an owner waits for consent. With another role it adds a user who has verified the address. */
  async function acceptOwnersInvitation(
    projectId: string,
    invitationId: string,
    context: CommandContext,
  ): Promise<void> {
    const { state } = await handler.load(projectAggregate, projectId, 'remembered');
    if (state.status !== 'existing' || invitationOf(state, invitationId) === null) return;
    await acceptInvitation({ projectId, invitationId }, stepContext(context, 'accept-invitation'));
  }
}
