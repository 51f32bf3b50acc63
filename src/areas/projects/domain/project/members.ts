import type { Decisions, Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import { type Role, roleAtLeast } from '../role.js';
import type { ProjectEvent } from './events.js';
import { keyRevoked } from './api-keys.js';
import { invitationOf, invitationTo, rejectEnded, requireRoom } from './invitations.js';
import { afterExpiry, endOffer, offerOwnership, withdrawal } from './offers.js';
import { openAt, ownershipOfferTo } from './open-offers.js';
import { memberNotFound, rejectProject } from './rejections.js';
import { reaches, requireReach } from '../given-access.js';
import { type ExistingProject, type MemberAddition, roleIn } from './fold.js';
import type { MemberNoticeKind } from '../../../../validation/fields.js';

/** Whom an event concerns so that they get a mail about it. */
interface MemberNotice {
  readonly kind: MemberNoticeKind;
  readonly userId: string;
  /** The member who gave the role or made the offer. */
  readonly by: string;
}

/** A notice that could not be mailed within this time, in ms, is dropped. */
export const memberNoticeLifetimeMs = 86_400_000;

/** The types of events that may have a notice. */
export const noticedTypes = ['MemberAdded', 'MemberRoleChanged', 'OfferMade'] as const;

type NoticedMemberEvent = Extract<ProjectEvent, { type: (typeof noticedTypes)[number] }>;

/** Returns the notice about the event; null where the user needs none. */
export function noticeOf(event: ProjectEvent): MemberNotice | null {
  if (event.type === 'MemberAdded' || event.type === 'MemberRoleChanged') {
    const { user_id: userId, given_by: by } = event.data;
    return by === undefined ? null : { kind: 'role_given', userId, by };
  }
  if (event.type !== 'OfferMade') return null;
  const { kind, user_id: userId, offered_by: by } = event.data;
  return { kind: `${kind}_offered`, userId, by };
}

/** The events by which a user becomes a member. */
export const joining = ['ProjectCreated', 'MemberAdded'] as const;

/** Returns the user who becomes a member. */
export function joinedBy(event: Extract<ProjectEvent, { type: (typeof joining)[number] }>): string {
  return event.type === 'ProjectCreated' ? event.data.owner_id : event.data.user_id;
}

/** Returns the role that the user has or would get, and the end of an offer; null when the noticed event is out of date. */
export function stillNoticed(
  event: Evolving<NoticedMemberEvent>,
  project: ExistingProject,
): { readonly role: Role; readonly expiresAt: Date | null } | null {
  if (event.type !== 'OfferMade') {
    const { user_id, role } = event.data;
    return roleIn(project, user_id) === role ? { role, expiresAt: null } : null;
  }
  const offer = openAt(project, event.recordedAt).offers.find(({ id }) => id === event.data.offer_id);
  return offer === undefined ? null : { role: 'owner', expiresAt: new Date(offer.expires_at) };
}

export type MemberCommand =
  /** Adds a user who has verified the address. It ends an invitation to that address. It adds no owner, who must agree. */
  | {
      readonly type: 'AddMember';
      readonly actorId: string;
      readonly userId: string;
      readonly email_digest: string;
      readonly role: Role;
      readonly now: Date;
      /** What an earlier attempt of the command may have made; absent for a command that is not repeated. */
      readonly made?: MemberAddition;
    }
  /** `memberId`: of a user or of an invitation. The role of owner is offered. Another role withdraws the offer. */
  | {
      readonly type: 'ChangeMemberRole';
      readonly actorId: string;
      readonly memberId: string;
      readonly role: Role;
      readonly offerId: string;
      readonly now: Date;
    }
  /** `memberId`: of a user, or of an invitation or offer, which is then withdrawn. Every member may leave. */
  | { readonly type: 'RemoveMember'; readonly actorId: string; readonly memberId: string }
  /** Ends the membership of an erased account. A project without an owner is deleted. */
  | { readonly type: 'RemoveErasedMember'; readonly userId: string };

export const memberDecisions: Decisions<MemberCommand, ExistingProject, ProjectEvent> = {
  AddMember: (command, project) => afterExpiry(command, project, add),
  ChangeMemberRole: (command, project) => afterExpiry(command, project, changeRole),
  RemoveMember: ({ actorId, memberId }, project) => {
    // A caller who manages no role must not learn which ids are members.
    if (actorId !== memberId) requireReach(project, actorId, 'viewer');
    const invitation = invitationOf(project, memberId);
    if (invitation !== null) {
      requireReach(project, actorId, invitation.role);
      return [withdrawal(invitation)];
    }
    if (project.offers.some(({ id }) => id === memberId)) {
      requireReach(project, actorId, 'owner');
      return [endOffer(memberId, 'withdrawn')];
    }
    const held = roleIn(project, memberId) ?? memberNotFound();
    if (actorId !== memberId) requireReach(project, actorId, held);
    if (held === 'owner') requireDispensable(project, memberId);
    return [{ type: 'MemberRemoved', data: { user_id: memberId } }, ...rightsLost(project, memberId, null)];
  },
  RemoveErasedMember: (command, project) => removeErased(command.userId, project),
};

function add(
  { actorId, userId, email_digest, role, made }: Extract<MemberCommand, { type: 'AddMember' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  requireReach(project, actorId, role);
  const held = roleIn(project, userId);
  if (held === role) return [];
  if (held !== null)
    rejectProject('already_member', `the user is a member of the project already, as ${held}`);
  if (made !== undefined && wasAddedBy(project, userId, made)) rejectEnded();
  // An owner must agree: the caller found an owner, who has left meanwhile.
  if (role === 'owner') memberNotFound();
  const invitation = invitationTo(project, email_digest);
  // The invitation ends too. Otherwise its acceptance could restore a membership after its removal.
  if (invitation === null) requireRoom(project);
  else requireReach(project, actorId, invitation.role);
  const data = { user_id: userId, role, invitation_id: invitation?.id ?? null, given_by: actorId };
  return [{ type: 'MemberAdded', data }];
}

/** Whether the command added the user, or made the invitation that the user accepted. */
export function wasAddedBy({ additions }: ExistingProject, userId: string, made: MemberAddition): boolean {
  const addition = additions.get(userId);
  if (addition === undefined) return false;
  return addition.commandId === made.commandId || addition.invitationId === made.invitationId;
}

function changeRole(
  command: Extract<MemberCommand, { type: 'ChangeMemberRole' }>,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const { actorId, memberId, role } = command;
  requireReach(project, actorId, role);
  const invitation = invitationOf(project, memberId);
  const held = invitation?.role ?? roleIn(project, memberId) ?? memberNotFound();
  requireReach(project, actorId, held);
  if (invitation !== null) {
    if (held === role) return [];
    const data = { invitation_id: memberId, role, changed_by: actorId };
    return [{ type: 'InvitationRoleChanged', data }];
  }
  if (role === 'owner') return held === 'owner' ? [] : offerOwnership(command, project);
  return setRole(command, held, project);
}

/** Sets another role than that of an owner, at once. */
function setRole(
  { actorId, memberId, role }: Extract<MemberCommand, { type: 'ChangeMemberRole' }>,
  held: Role,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const offer = roleIn(project, actorId) === 'owner' ? ownershipOfferTo(project, memberId) : null;
  const withdrawn = offer === null ? [] : [endOffer(offer.id, 'withdrawn')];
  if (held === role) return withdrawn;
  if (held === 'owner') requireDispensable(project, memberId);
  const givenBy = roleAtLeast(held, role) ? {} : { given_by: actorId };
  return [
    ...withdrawn,
    { type: 'MemberRoleChanged', data: { user_id: memberId, role, ...givenBy } },
    ...rightsLost(project, memberId, role),
  ];
}

export const projectDeleted: ProjectEvent = { type: 'ProjectDeleted', data: {} };

/** No user becomes an owner by the erasure of another one, so a project without an owner ends. */
function removeErased(userId: string, project: ExistingProject): readonly ProjectEvent[] {
  if (roleIn(project, userId) === null) return [];
  const hasOwner = project.members.some(({ user_id, role }) => user_id !== userId && role === 'owner');
  if (!hasOwner) return [projectDeleted];
  return [
    { type: 'MemberRemoved', data: { user_id: userId, erased: true } },
    ...rightsLost(project, userId, null),
  ];
}

/**
 * Ends what a member may not have any more in the new role (null: none): API keys, which only admins may use and which a
 * former admin still knows, and invitations to roles that the member does not reach.
 */
function rightsLost(project: ExistingProject, userId: string, role: Role | null): readonly ProjectEvent[] {
  const isAdmin = role !== null && roleAtLeast(role, 'admin');
  const ended = project.invitations.filter(
    (invitation) => invitation.invited_by === userId && !reaches(role, invitation.role),
  );
  return [
    ...(isAdmin ? [] : project.api_keys.filter(({ issued_by }) => issued_by === userId).map(keyRevoked)),
    ...ended.map((invitation) => withdrawal(invitation, 'inviter_lost_right')),
  ];
}

/** Checks that an owner may stop being one. */
function requireDispensable({ members, billed_to }: ExistingProject, ownerId: string): void {
  const hasAnother = members.some(({ user_id, role }) => role === 'owner' && user_id !== ownerId);
  if (!hasAnother) rejectProject('last_owner', 'a project needs an owner; make another member owner first');
  if (billed_to === ownerId) {
    rejectProject(
      'payer_needed',
      'the project is billed to this owner; another owner takes the billing first',
    );
  }
}
