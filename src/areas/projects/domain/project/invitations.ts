import type { Decisions } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import type { MailOutcome } from '../../../../validation/fields.js';
import type { Role } from '../role.js';
import type { ProjectEvent } from './events.js';
import { afterExpiry, withdrawal } from './offers.js';
import { openAt } from './open-offers.js';
import { requireReach } from '../given-access.js';
import { rejectProject } from './rejections.js';
import { type ExistingProject, type InvitationEntry, type ProjectFields, roleIn } from './fold.js';

export type InvitationCommand =
  | {
      readonly type: 'InviteMember';
      readonly actorId: string;
      readonly invitationId: string;
      readonly email: Sealed;
      readonly email_digest: string;
      readonly role: Role;
      readonly now: Date;
    }
  | { readonly type: 'MarkInvitationMailed'; readonly invitationId: string; readonly outcome: MailOutcome }
  /** The user has verified the address of the invitation. Only an owner needs to agree: see `AnswerInvitation`. */
  | { readonly type: 'AcceptInvitation'; readonly invitationId: string; readonly userId: string }
  /** The person had verified the address, and the account was erased at this recorded time. A later invitation stays. */
  | { readonly type: 'EndInvitation'; readonly invitationId: string; readonly erasedAt: Date }
  /** The user, who has verified the address with this digest, accepts or declines. */
  | {
      readonly type: 'AnswerInvitation';
      readonly invitationId: string;
      readonly userId: string;
      readonly email_digest: string;
      readonly accepts: boolean;
      readonly now: Date;
    };

/** Members of one project, invitations included (src/areas/projects/README.md#rules-of-a-project). */
const membersMax = 200;

/** The events that end invitations. The deletion of the project ends all of them, and a member may join without one. */
export const endingInvitations = ['MemberAdded', 'InvitationWithdrawn', 'ProjectDeleted'] as const;

export const invitationDecisions: Decisions<InvitationCommand, ExistingProject, ProjectEvent> = {
  InviteMember: (command, project) => afterExpiry(command, project, invite),
  MarkInvitationMailed: ({ invitationId, outcome }, project) => {
    if (invitationOf(project, invitationId) === null || project.mailed.has(invitationId)) return [];
    return [{ type: 'InvitationMailed', data: { invitation_id: invitationId, outcome } }];
  },
  AcceptInvitation: ({ invitationId, userId }, project) => {
    const invitation = invitationOf(project, invitationId);
    // Accepted or withdrawn before.
    if (invitation === null) return [];
    if (invitation.role === 'owner' && roleIn(project, userId) === null) return [];
    // The mail of the invitation said another role, and perhaps that it waits for consent, so another one says who gave this one.
    const givenBy = invitation.role_at === invitation.invited_at ? {} : { given_by: invitation.invited_by };
    return join(invitation, userId, project, givenBy);
  },
  EndInvitation: ({ invitationId, erasedAt }, project) => {
    const invitation = invitationOf(project, invitationId);
    const given = project.given.get(invitationId);
    const isOver = invitation !== null && given !== undefined && given.at <= erasedAt;
    return isOver ? [withdrawal(invitation, 'declined')] : [];
  },
  AnswerInvitation: ({ invitationId, userId, email_digest, accepts, now }, project) => {
    const invitation = invitationOf(openAt(project, now), invitationId);
    if (invitation?.email_digest !== email_digest)
      return rejectProject('offer_not_found', 'there is no such invitation, or it has ended');
    return accepts ? join(invitation, userId, project) : [withdrawal(invitation, 'declined')];
  },
};

function invite(
  command: Extract<InvitationCommand, { type: 'InviteMember' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const { actorId, invitationId, email, email_digest, role } = command;
  requireReach(project, actorId, role);
  // A repetition, because the invitation's id derives from the command.
  if (invitationOf(project, invitationId) !== null) return [];
  requireInvitable(project, command);
  return [
    {
      type: 'MemberInvited',
      data: { invitation_id: invitationId, email, email_digest, role, invited_by: actorId },
    },
  ];
}

function join(
  invitation: InvitationEntry,
  userId: string,
  project: ExistingProject,
  givenBy: { readonly given_by?: string } = {},
): readonly ProjectEvent[] {
  const { id, role } = invitation;
  if (roleIn(project, userId) !== null) return [withdrawal(invitation)];
  return [{ type: 'MemberAdded', data: { user_id: userId, role, invitation_id: id, ...givenBy } }];
}

/** Returns the open invitation. */
export function invitationOf(
  { invitations }: Pick<ProjectFields, 'invitations'>,
  invitationId: string,
): InvitationEntry | null {
  return invitations.find(({ id }) => id === invitationId) ?? null;
}

/**
 * Checks that an address may be invited.
 * @throws CommandRejected already_member, member_limit_reached; member_not_found for an invitation that has ended
 */
export function requireInvitable(
  project: ExistingProject,
  { invitationId, email_digest }: { readonly invitationId: string; readonly email_digest: string },
): void {
  if (project.endedIds.includes(invitationId)) rejectEnded();
  if (invitationTo(project, email_digest) !== null)
    rejectProject('already_member', 'the address has been invited already');
  requireRoom(project);
}

/** Returns the open invitation to an address. There is one at most. */
export function invitationTo({ invitations }: ExistingProject, email_digest: string): InvitationEntry | null {
  return invitations.find((invitation) => invitation.email_digest === email_digest) ?? null;
}

/** Rejects a late repetition of a command. It must not restore a member or invitation that has ended. */
export function rejectEnded(): never {
  return rejectProject(
    'member_not_found',
    'the member or invitation of this request has ended; repeat it with another Idempotency-Key',
  );
}

export function requireRoom({ members, invitations }: ExistingProject): void {
  if (members.length + invitations.length >= membersMax)
    rejectProject('member_limit_reached', `a project has at most ${membersMax} members`);
}
