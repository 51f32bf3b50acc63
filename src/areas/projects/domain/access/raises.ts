import type { Evolving } from '../../../../event-sourcing/deciding/decider.js';
import { type Role, roleAtLeast } from '../role.js';
import type { ProjectEvent } from '../project/events.js';
import type { GivenAccess } from './givers.js';
import { ownershipOfferTo } from '../project/open-offers.js';
import { invitationOf, type ProjectFields, roleIn } from '../project/status.js';

/** A higher role that a user gave a member, and the role that the member had before it. */
export interface RaisedRole extends GivenAccess {
  readonly from: Role;
}

/**
 * By the id of the member: the raises that the member's role still contains, lowest first. A change to a role drops the
 * raises from that role and from higher ones, so a member has at most three.
 */
export type RaisedRoles = ReadonlyMap<string, readonly RaisedRole[]>;

type RoleGiven = Evolving<Extract<ProjectEvent, { type: 'MemberAdded' | 'MemberRoleChanged' }>>;
type Before = Pick<ProjectFields, 'members' | 'invitations' | 'offers'>;

/** Returns who raised which roles after an event. @param project before the event */
export function raisesAfter(
  raises: RaisedRoles,
  event: Evolving<ProjectEvent>,
  project: Before,
): RaisedRoles {
  if (event.type === 'MemberRemoved') return withRaises(raises, event.data.user_id, []);
  if (event.type !== 'MemberAdded' && event.type !== 'MemberRoleChanged') return raises;
  const { user_id, role } = event.data;
  const earlier = event.type === 'MemberAdded' ? [] : (raises.get(user_id) ?? []);
  const kept = earlier.filter(({ from }) => !roleAtLeast(from, role));
  const from = roleBefore(event, project) ?? role;
  const raise = { from, ...giverOf(event, project) };
  return withRaises(raises, user_id, roleAtLeast(from, role) ? kept : [...kept, raise]);
}

/** A user who is added in a higher role than that of the invitation has the difference from the one who added. */
function roleBefore(event: RoleGiven, project: Before): Role | null {
  if (event.type === 'MemberRoleChanged') return roleIn(project, event.data.user_id);
  const { invitation_id } = event.data;
  return invitation_id === null ? null : (invitationOf(project, invitation_id)?.role ?? null);
}

function giverOf({ data, metadata, recordedAt: at }: RoleGiven, project: Before): GivenAccess {
  const offer = data.role === 'owner' ? ownershipOfferTo(project, data.user_id) : null;
  if (offer !== null) return { by: offer.offered_by, at: new Date(offer.offered_at), commandId: null };
  return { by: data.given_by ?? null, at, commandId: metadata.command_id };
}

/** Returns the role without the newest raises that are not trusted. A trusted raise stays, and so do those below it. */
export function fallbackRole(
  held: Role,
  raises: readonly RaisedRole[],
  isTrusted: (raise: RaisedRole) => boolean,
): Role {
  const untrusted = raises.slice(raises.findLastIndex(isTrusted) + 1);
  return untrusted[0]?.from ?? held;
}

function withRaises(raises: RaisedRoles, userId: string, now: readonly RaisedRole[]): RaisedRoles {
  const next = new Map(raises);
  if (now.length === 0) next.delete(userId);
  else next.set(userId, now);
  return next;
}
