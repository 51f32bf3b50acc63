import type { ProjectEvent } from '../../domain/project/events.js';
import { lowersOwner } from '../../domain/access/lowered-invitations.js';
import { projectAggregate, type ProjectCommand, type ProjectState } from '../../domain/project/project.js';
import { invitationOf } from '../../domain/project/status.js';
import { userAggregate } from '../../../accounts/domain/user/user.js';
import type { ProjectDeps } from '../../deps.js';
import type { CountInvitation } from '../invitations/invitation-limits.js';
import type { RequireProved } from '../require-proved.js';
import { noticeOf } from '../../domain/project/notices.js';

/**
 * Counts the mail that a command about a member would cause, under the limits on invitations; does nothing for a command
 * that causes none or is refused, which the append then reports.
 * @throws CommandRejected email_not_verified; TooManyAttempts; StoreUnavailable; Overloaded
 */
export type CountNotice = (
  told: {
    readonly projectId: string;
    readonly actorId: string;
    /** The id of a user, or of an invitation. */
    readonly userId: string;
  },
  command: ProjectCommand,
) => Promise<void>;

export function makeCountNotice({
  handler,
  requireProved,
  countInvitation,
}: Pick<ProjectDeps, 'handler'> & {
  readonly requireProved: RequireProved;
  readonly countInvitation: CountInvitation;
}): CountNotice {
  return async ({ projectId, actorId, userId }, command) => {
    const { state } = await handler.load(projectAggregate, projectId);
    const events = projectAggregate.decider.decide(command, state);
    if (!events.some((event) => causesNotice(event, state))) return;
    await requireProved(actorId);
    const emailDigest = await digestOf(userId, state);
    if (emailDigest !== null) await countInvitation({ projectId, inviterId: actorId, emailDigest });
  };

  /** @param memberId the id of a user, or of an invitation */
  async function digestOf(memberId: string, project: ProjectState): Promise<string | null> {
    const invitation = project.status === 'existing' ? invitationOf(project, memberId) : null;
    if (invitation !== null) return invitation.email_digest;
    const { state: user } = await handler.load(userAggregate, memberId);
    return user.status === 'registered' ? user.email_digest : null;
  }
}

/** An invitation of an owner that gets another role makes a member, who gets a mail, at once or later. */
function causesNotice(event: ProjectEvent, project: ProjectState): boolean {
  if (noticeOf(event) !== null) return true;
  return (
    event.type === 'InvitationRoleChanged' && project.status === 'existing' && lowersOwner(event, project)
  );
}
