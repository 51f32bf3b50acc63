import type { Sealed } from '../../event-sourcing/sealed.js';
import type { MailOutcome } from '../fields.js';
import { type Role, roleAtLeast } from '../role.js';
import type { ProjectEvent } from './events.js';
import { rejectProject } from './rejections.js';
import type { ExistingProject, Invitation } from './state.js';

export type MemberCommand =
  | {
      readonly type: 'InviteMember';
      readonly actorId: string;
      readonly invitationId: string;
      readonly email: Sealed;
      readonly emailDigest: string;
      readonly role: Role;
    }
  /** At once, for a user who has verified their address already; it takes the place of an invitation to that address. */
  | {
      readonly type: 'AddMember';
      readonly actorId: string;
      readonly userId: string;
      readonly emailDigest: string;
      readonly role: Role;
    }
  | { readonly type: 'MarkInvitationMailed'; readonly invitationId: string; readonly outcome: MailOutcome }
  /** The address of an invitation has been verified by this user. */
  | { readonly type: 'AcceptInvitation'; readonly invitationId: string; readonly userId: string }
  /** `memberId`: of a user or of an invitation. */
  | {
      readonly type: 'ChangeMemberRole';
      readonly actorId: string;
      readonly memberId: string;
      readonly role: Role;
    }
  /** `memberId`: of a user, or of an invitation, which is then withdrawn. Everybody may remove themselves. */
  | { readonly type: 'RemoveMember'; readonly actorId: string; readonly memberId: string }
  /** An erased account's membership: what it leaves alone is deleted, what it leaves to others gets an owner. */
  | { readonly type: 'RemoveErasedMember'; readonly userId: string };

/** DESIGN 4.2; invitations count. */
export const membersMax = 200;

export function decideMembers(command: MemberCommand, project: ExistingProject): readonly ProjectEvent[] {
  switch (command.type) {
    case 'InviteMember':
      return invite(command, project);
    case 'AddMember':
      return add(command, project);
    case 'MarkInvitationMailed': {
      const { invitationId, outcome } = command;
      const invitation = project.invitations.get(invitationId);
      if (invitation === undefined || invitation.mailed) return [];
      return [{ type: 'InvitationMailed', data: { invitation_id: invitationId, outcome } }];
    }
    case 'AcceptInvitation':
      return accept(command, project);
    case 'ChangeMemberRole':
      return changeRole(command, project);
    case 'RemoveMember':
      return remove(command, project);
    case 'RemoveErasedMember':
      return removeErased(command.userId, project);
  }
}

function invite(
  command: Extract<MemberCommand, { type: 'InviteMember' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const { actorId, invitationId, email, emailDigest, role } = command;
  requireReach(project, actorId, role);
  // Repeated: the invitation's id is made from the command.
  if (project.invitations.has(invitationId)) return [];
  requireInvitable(project, emailDigest);
  return [
    {
      type: 'MemberInvited',
      data: { invitation_id: invitationId, email, email_digest: emailDigest, role, invited_by: actorId },
    },
  ];
}

function add(
  { actorId, userId, emailDigest, role }: Extract<MemberCommand, { type: 'AddMember' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  requireReach(project, actorId, role);
  const held = project.members.get(userId);
  if (held === role) return [];
  if (held !== undefined) {
    rejectProject('already_member', `the user is a member of the project already, as ${held}`);
  }
  const [invitationId, invitation] = invitationTo(project, emailDigest) ?? [null, null];
  // An invitation that stayed open would make a member again of whoever is removed before it is accepted.
  if (invitation === null) requireRoom(project);
  else requireReach(project, actorId, invitation.role);
  return [{ type: 'MemberAdded', data: { user_id: userId, role, invitation_id: invitationId } }];
}

function accept(
  { invitationId, userId }: Extract<MemberCommand, { type: 'AcceptInvitation' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const invitation = project.invitations.get(invitationId);
  // Accepted or withdrawn before.
  if (invitation === undefined) return [];
  if (project.members.has(userId)) {
    return [{ type: 'InvitationWithdrawn', data: { invitation_id: invitationId } }];
  }
  const { role } = invitation;
  return [{ type: 'MemberAdded', data: { user_id: userId, role, invitation_id: invitationId } }];
}

function changeRole(
  { actorId, memberId, role }: Extract<MemberCommand, { type: 'ChangeMemberRole' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  requireReach(project, actorId, role);
  const invitation = project.invitations.get(memberId);
  const held = invitation?.role ?? project.members.get(memberId) ?? memberNotFound();
  requireReach(project, actorId, held);
  if (held === role) return [];
  if (invitation !== undefined) {
    return [{ type: 'InvitationRoleChanged', data: { invitation_id: memberId, role } }];
  }
  if (held === 'owner') requireAnotherOwner(project, memberId);
  const changed: ProjectEvent = { type: 'MemberRoleChanged', data: { user_id: memberId, role } };
  // Keys are the work of admins: who is none any more could go on using those that they know.
  return roleAtLeast(role, 'admin') ? [changed] : [changed, ...revokeKeysOf(project, memberId)];
}

function remove(
  { actorId, memberId }: Extract<MemberCommand, { type: 'RemoveMember' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  // Whoever reaches nobody is not told who is there.
  if (actorId !== memberId) requireReach(project, actorId, 'viewer');
  const invitation = project.invitations.get(memberId);
  if (invitation !== undefined) {
    requireReach(project, actorId, invitation.role);
    return [{ type: 'InvitationWithdrawn', data: { invitation_id: memberId } }];
  }
  const held = project.members.get(memberId) ?? memberNotFound();
  if (actorId !== memberId) requireReach(project, actorId, held);
  if (held === 'owner') requireAnotherOwner(project, memberId);
  return [{ type: 'MemberRemoved', data: { user_id: memberId } }, ...revokeKeysOf(project, memberId)];
}

function removeErased(userId: string, project: ExistingProject): readonly ProjectEvent[] {
  if (!project.members.has(userId)) return [];
  const others = [...project.members].filter(([memberId]) => memberId !== userId);
  const heir = heirAmong(others);
  if (heir === null) return [{ type: 'ProjectDeleted', data: {} }];
  const removed: ProjectEvent[] = [
    { type: 'MemberRemoved', data: { user_id: userId } },
    ...revokeKeysOf(project, userId),
  ];
  if (others.some(([, role]) => role === 'owner')) return removed;
  return [...removed, { type: 'MemberRoleChanged', data: { user_id: heir, role: 'owner' } }];
}

/** The member of the highest role who joined first. */
function heirAmong(members: readonly (readonly [string, Role])[]): string | null {
  let heir: readonly [string, Role] | null = null;
  for (const member of members) {
    if (heir === null || !roleAtLeast(heir[1], member[1])) heir = member;
  }
  return heir?.[0] ?? null;
}

/** Owners reach everybody; admins reach editors and viewers (DESIGN 4.2). @throws CommandRejected insufficient_role */
export function requireReach(project: ExistingProject, actorId: string, role: Role): void {
  const acting = project.members.get(actorId);
  const reaches = acting === 'owner' || (acting === 'admin' && !roleAtLeast(role, 'admin'));
  if (!reaches) rejectProject('insufficient_role', `your role does not reach members of the role ${role}`);
}

/** Whether an address may be invited, by whoever may. @throws CommandRejected already_member, member_limit_reached */
export function requireInvitable(project: ExistingProject, emailDigest: string): void {
  if (invitationTo(project, emailDigest) !== null) {
    rejectProject('already_member', 'the address has been invited already');
  }
  requireRoom(project);
}

/** The open invitation to an address, and its id. There is one at most. */
function invitationTo(
  { invitations }: ExistingProject,
  emailDigest: string,
): readonly [string, Invitation] | null {
  return [...invitations].find(([, invitation]) => invitation.emailDigest === emailDigest) ?? null;
}

function requireAnotherOwner({ members }: ExistingProject, ownerId: string): void {
  const hasAnother = [...members].some(([memberId, role]) => role === 'owner' && memberId !== ownerId);
  if (!hasAnother) rejectProject('last_owner', 'a project needs an owner; make another member owner first');
}

function requireRoom({ members, invitations }: ExistingProject): void {
  if (members.size + invitations.size >= membersMax) {
    rejectProject('member_limit_reached', `a project has at most ${membersMax} members`);
  }
}

function revokeKeysOf({ apiKeys }: ExistingProject, userId: string): readonly ProjectEvent[] {
  return [...apiKeys]
    .filter(([, { issuedBy }]) => issuedBy === userId)
    .map(([id]) => ({ type: 'ApiKeyRevoked', data: { key_id: id } }));
}

function memberNotFound(): never {
  return rejectProject('member_not_found', 'there is no such member');
}
