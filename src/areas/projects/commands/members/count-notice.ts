import { projectAggregate, type ProjectCommand, type ProjectState } from '../../domain/project/project.js';
import { invitationOf } from '../../domain/project/fold.js';
import { userAggregate } from '../../../accounts/domain/user/user.js';
import type { ProjectDeps } from '../../deps.js';
import type { CountInvitation } from '../invitations/invitation-limits.js';
import type { ActingSession, RequireProved } from '../require-proved.js';
import { noticeOf } from '../../domain/project/notices.js';

/**
 * Checks that the actor may give what a command about a member gives, and counts the mail that it would cause, under the limits on
 * invitations; does nothing for a command that gives nothing or is refused, which the append then reports.
 * @throws CommandRejected email_not_verified, session_ended; TooManyAttempts; StoreUnavailable; Overloaded
 */
export type CountNotice = (
  told: {
    readonly projectId: string;
    readonly actorId: string;
    readonly session: ActingSession;
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
  return async ({ projectId, actorId, session, userId }, command) => {
    const { state } = await handler.load(projectAggregate, projectId);
    const events = projectAggregate.decider.decide(command, state);
    const isTold = events.some((event) => noticeOf(event) !== null);
    // An invitation with another role makes a member of that role, at once or later.
    if (!isTold && !events.some(({ type }) => type === 'InvitationRoleChanged')) return;
    await requireProved({ actorId, session });
    if (!isTold) return;
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
