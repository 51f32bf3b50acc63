import type { Sealed } from '../../event-sourcing/ports/sealed.js';
import type { MailOutcome } from '../fields.js';
import { type Role, roleAtLeast } from '../role.js';
import type { ProjectEvent } from './events.js';
import { rejectProject } from './rejections.js';
import type { ExistingProject, MemberAddition } from './state.js';
import { type InvitationEntry, invitationOf, type MemberEntry, roleIn } from './status.js';

export type MemberCommand =
  | {
      readonly type: 'InviteMember';
      readonly actorId: string;
      readonly invitationId: string;
      readonly email: Sealed;
      readonly emailDigest: string;
      readonly role: Role;
    }
  /** Adds a user who has verified the address. It ends an invitation to that address. */
  | {
      readonly type: 'AddMember';
      readonly actorId: string;
      readonly userId: string;
      readonly emailDigest: string;
      readonly role: Role;
      /** What an earlier attempt of the command may have made; absent for a command that is not repeated. */
      readonly made?: MemberAddition;
    }
  | { readonly type: 'MarkInvitationMailed'; readonly invitationId: string; readonly outcome: MailOutcome }
  /** The user has verified the address of the invitation. */
  | { readonly type: 'AcceptInvitation'; readonly invitationId: string; readonly userId: string }
  /** `memberId`: of a user or of an invitation. */
  | {
      readonly type: 'ChangeMemberRole';
      readonly actorId: string;
      readonly memberId: string;
      readonly role: Role;
    }
  /** `memberId`: of a user, or of an invitation, which is then withdrawn. Every member may leave. */
  | { readonly type: 'RemoveMember'; readonly actorId: string; readonly memberId: string }
  /** Ends the membership of an erased account. A project without members is deleted; one without an owner gets one. */
  | { readonly type: 'RemoveErasedMember'; readonly userId: string };

/** Members of one project, invitations included (docs/design.md#projects). */
export const membersMax = 200;

export function decideMembers(command: MemberCommand, project: ExistingProject): readonly ProjectEvent[] {
  switch (command.type) {
    case 'InviteMember':
      return invite(command, project);
    case 'AddMember':
      return add(command, project);
    case 'MarkInvitationMailed': {
      const { invitationId, outcome } = command;
      if (invitationOf(project, invitationId) === null || project.mailed.has(invitationId)) return [];
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
  // A repetition, because the invitation's id derives from the command.
  if (invitationOf(project, invitationId) !== null) return [];
  requireInvitable(project, command);
  return [
    {
      type: 'MemberInvited',
      data: { invitation_id: invitationId, email, email_digest: emailDigest, role, invited_by: actorId },
    },
  ];
}

function add(
  { actorId, userId, emailDigest, role, made }: Extract<MemberCommand, { type: 'AddMember' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  requireReach(project, actorId, role);
  const held = roleIn(project, userId);
  if (held === role) return [];
  if (held !== null) {
    rejectProject('already_member', `the user is a member of the project already, as ${held}`);
  }
  if (made !== undefined && wasAddedBy(project, userId, made)) rejectEnded();
  const invitation = invitationTo(project, emailDigest);
  // The invitation ends too. Otherwise its acceptance could restore a membership after its removal.
  if (invitation === null) requireRoom(project);
  else requireReach(project, actorId, invitation.role);
  return [{ type: 'MemberAdded', data: { user_id: userId, role, invitation_id: invitation?.id ?? null } }];
}

/** Whether the command added the user, or made the invitation that the user accepted. */
export function wasAddedBy({ additions }: ExistingProject, userId: string, made: MemberAddition): boolean {
  const addition = additions.get(userId);
  if (addition === undefined) return false;
  return addition.commandId === made.commandId || addition.invitationId === made.invitationId;
}

/** Rejects a late repetition of a command. It must not restore a member or invitation that has ended. */
export function rejectEnded(): never {
  return rejectProject(
    'member_not_found',
    'the member or invitation of this request has ended; repeat it with another Idempotency-Key',
  );
}

function accept(
  { invitationId, userId }: Extract<MemberCommand, { type: 'AcceptInvitation' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const invitation = invitationOf(project, invitationId);
  // Accepted or withdrawn before.
  if (invitation === null) return [];
  if (roleIn(project, userId) !== null) {
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
  const invitation = invitationOf(project, memberId);
  const held = invitation?.role ?? roleIn(project, memberId) ?? memberNotFound();
  requireReach(project, actorId, held);
  if (held === role) return [];
  if (invitation !== null) {
    return [{ type: 'InvitationRoleChanged', data: { invitation_id: memberId, role } }];
  }
  if (held === 'owner') requireAnotherOwner(project, memberId);
  const changed: ProjectEvent = { type: 'MemberRoleChanged', data: { user_id: memberId, role } };
  // Only admins and owners may use keys, and a demoted member still knows the keys that they issued.
  return roleAtLeast(role, 'admin') ? [changed] : [changed, ...revokeKeysOf(project, memberId)];
}

function remove(
  { actorId, memberId }: Extract<MemberCommand, { type: 'RemoveMember' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  // A caller who manages no role must not learn which ids are members.
  if (actorId !== memberId) requireReach(project, actorId, 'viewer');
  const invitation = invitationOf(project, memberId);
  if (invitation !== null) {
    requireReach(project, actorId, invitation.role);
    return [{ type: 'InvitationWithdrawn', data: { invitation_id: memberId } }];
  }
  const held = roleIn(project, memberId) ?? memberNotFound();
  if (actorId !== memberId) requireReach(project, actorId, held);
  if (held === 'owner') requireAnotherOwner(project, memberId);
  return [{ type: 'MemberRemoved', data: { user_id: memberId } }, ...revokeKeysOf(project, memberId)];
}

function removeErased(userId: string, project: ExistingProject): readonly ProjectEvent[] {
  if (roleIn(project, userId) === null) return [];
  const others = project.members.filter(({ user_id }) => user_id !== userId);
  const heir = heirAmong(others);
  if (heir === null) return [{ type: 'ProjectDeleted', data: {} }];
  const removed: ProjectEvent[] = [
    { type: 'MemberRemoved', data: { user_id: userId } },
    ...revokeKeysOf(project, userId),
  ];
  if (others.some(({ role }) => role === 'owner')) return removed;
  return [...removed, { type: 'MemberRoleChanged', data: { user_id: heir, role: 'owner' } }];
}

/** Returns the member of the highest role who joined first. */
function heirAmong(members: readonly MemberEntry[]): string | null {
  let heir: MemberEntry | null = null;
  for (const member of members) {
    if (heir === null || !roleAtLeast(heir.role, member.role)) heir = member;
  }
  return heir?.user_id ?? null;
}

/** Owners reach all roles, admins editors and viewers: docs/design.md#roles. @throws CommandRejected */
export function requireReach(project: ExistingProject, actorId: string, role: Role): void {
  const acting = roleIn(project, actorId);
  const reaches = acting === 'owner' || (acting === 'admin' && !roleAtLeast(role, 'admin'));
  if (!reaches) rejectProject('insufficient_role', `your role does not reach members of the role ${role}`);
}

/**
 * Checks that an address may be invited.
 * @throws CommandRejected already_member, member_limit_reached; member_not_found for an invitation that has ended
 */
export function requireInvitable(
  project: ExistingProject,
  { invitationId, emailDigest }: { readonly invitationId: string; readonly emailDigest: string },
): void {
  if (project.endedIds.includes(invitationId)) rejectEnded();
  if (invitationTo(project, emailDigest) !== null) {
    rejectProject('already_member', 'the address has been invited already');
  }
  requireRoom(project);
}

/** Returns the open invitation to an address. There is one at most. */
function invitationTo({ invitations }: ExistingProject, emailDigest: string): InvitationEntry | null {
  return invitations.find(({ email_digest }) => email_digest === emailDigest) ?? null;
}

function requireAnotherOwner({ members }: ExistingProject, ownerId: string): void {
  const hasAnother = members.some(({ user_id, role }) => role === 'owner' && user_id !== ownerId);
  if (!hasAnother) rejectProject('last_owner', 'a project needs an owner; make another member owner first');
}

function requireRoom({ members, invitations }: ExistingProject): void {
  if (members.length + invitations.length >= membersMax) {
    rejectProject('member_limit_reached', `a project has at most ${membersMax} members`);
  }
}

function revokeKeysOf({ api_keys }: ExistingProject, userId: string): readonly ProjectEvent[] {
  return api_keys
    .filter(({ issued_by }) => issued_by === userId)
    .map(({ id }) => ({ type: 'ApiKeyRevoked', data: { key_id: id } }));
}

function memberNotFound(): never {
  return rejectProject('member_not_found', 'there is no such member');
}
