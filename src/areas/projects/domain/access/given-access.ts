import type { Role } from '../role.js';
import type { ProjectEvent } from '../project/events.js';
import type { GivenAccess } from './givers.js';
import { rightsLost } from '../project/members.js';
import { endOffer } from '../project/offers.js';
import { fallbackRole } from './raises.js';
import type { ExistingProject } from '../project/state.js';
import { type OfferEntry, roleIn } from '../project/status.js';

export type GivenAccessCommand =
  /** Ends the access to the project that a user has given, because the account may not be trusted. */
  | {
      readonly type: 'EndGivenAccess';
      readonly userId: string;
      /**
       * The store's recorded time until which access that the user gave ends: the API keys that they issued, the
       * invitations and the offers that they made. Null: at any time.
       */
      readonly until: Date | null;
      /**
       * `end`: the members whom the user added, and those whom these added, leave. Their keys and invitations end too. The
       * roles that the user or one of these raised fall back.
       */
      readonly members: 'stay' | 'end';
    }
  /**
   * Takes back what one command of the user has given: a membership, a higher role, an invitation, an API key, or the
   * offer with the id.
   */
  | {
      readonly type: 'TakeBackAccess';
      readonly userId: string;
      readonly commandId: string;
      readonly offerId: string | null;
    };

/** The decision whether this access ends, by its id and giver. */
type Ends = (id: string, given: GivenAccess) => boolean;

export function decideGivenAccess(
  command: GivenAccessCommand,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const { userId } = command;
  if (command.type === 'TakeBackAccess') {
    const { commandId, offerId } = command;
    return endAccess(project, userId, {
      members: 'end',
      ends: (id, given) => given.by === userId && (given.commandId === commandId || id === offerId),
    });
  }
  const { until, members } = command;
  return endAccess(project, userId, {
    members,
    ends: (_, { by, at }) => by === userId && (until === null || at <= until),
  });
}

/** @param userId the giver, who keeps membership and role, and owns the project where it has no other owner after that */
function endAccess(
  project: ExistingProject,
  userId: string,
  { members, ends }: { readonly members: 'stay' | 'end'; readonly ends: Ends },
): readonly ProjectEvent[] {
  const removed = members === 'end' ? membersGiven(project, userId, ends) : new Set<string>();
  // Also what a member gave who is removed.
  const isOver: Ends = (id, given) => (given.by !== null && removed.has(given.by)) || ends(id, given);
  const held = roleIn(project, userId);
  const fallen =
    members === 'end' ? rolesGiven(project, userId, { removed, isOver }) : new Map<string, Role>();
  const lacksOwner =
    removed.size + fallen.size > 0 &&
    !project.members.some(
      ({ user_id, role }) => role === 'owner' && !removed.has(user_id) && !fallen.has(user_id),
    );
  const payerEnds = removed.has(project.billed_to) || fallen.has(project.billed_to);
  const lost = [...fallen].flatMap(([id, role]) => rightsLost(project, id, role));
  return [
    // First: a project is never without an owner, and its payer is one.
    ...(lacksOwner && held !== null ? [roleChanged(userId, 'owner')] : []),
    // The capacity of another owner must not pay in the place of one who was added without consent.
    ...(payerEnds && (lacksOwner || held === 'owner')
      ? [{ type: 'BillingChanged', data: { user_id: userId } } as const]
      : []),
    ...[...removed].map((id) => ({ type: 'MemberRemoved', data: { user_id: id } }) as const),
    ...[...fallen].map(([id, role]) => roleChanged(id, role)),
    ...lost,
    ...thingsGiven(project, isOver).filter((event) => !lost.some((other) => endsSame(event, other))),
    ...project.offers
      .filter((offer) => isOver(offer.id, giverOf(offer)))
      .map(({ id }) => endOffer(id, 'withdrawn')),
  ];
}

/** Returns the members whom the user added, whom these added, and so on; never the user. */
function membersGiven(project: ExistingProject, userId: string, ends: Ends): ReadonlySet<string> {
  const removed = new Set<string>();
  for (let before = -1; removed.size > before;) {
    before = removed.size;
    for (const { user_id } of project.members) {
      const given = project.given.get(user_id);
      if (given === undefined || user_id === userId) continue;
      if ((given.by !== null && removed.has(given.by)) || ends(user_id, given)) removed.add(user_id);
    }
  }
  return removed;
}

/** Returns the lower roles of the members who stay and whose role was raised. The user keeps the role. */
function rolesGiven(
  project: ExistingProject,
  userId: string,
  { removed, isOver }: { readonly removed: ReadonlySet<string>; readonly isOver: Ends },
): ReadonlyMap<string, Role> {
  const fallen = new Map<string, Role>();
  for (const { user_id: id, role } of project.members) {
    if (id === userId || removed.has(id)) continue;
    // A user who has left cannot take the place of an owner.
    if (role === 'owner' && roleIn(project, userId) === null) continue;
    const before = fallbackRole(role, project.raises.get(id) ?? [], (raise) => !isOver(id, raise));
    if (before !== role) fallen.set(id, before);
  }
  return fallen;
}

/** Returns the ends of the API keys and the invitations. */
function thingsGiven(project: ExistingProject, isOver: Ends): readonly ProjectEvent[] {
  const isEnded = ({ id }: { readonly id: string }): boolean => {
    const given = project.given.get(id);
    return given !== undefined && isOver(id, given);
  };
  return [
    ...project.api_keys
      .filter(isEnded)
      .map(({ id }) => ({ type: 'ApiKeyRevoked', data: { key_id: id } }) as const),
    ...project.invitations
      .filter(isEnded)
      .map(({ id }) => ({ type: 'InvitationWithdrawn', data: { invitation_id: id } }) as const),
  ];
}

/** Whether two events end the same API key or invitation. */
function endsSame(one: ProjectEvent, other: ProjectEvent): boolean {
  if (one.type === 'ApiKeyRevoked') {
    return other.type === 'ApiKeyRevoked' && other.data.key_id === one.data.key_id;
  }
  return (
    one.type === 'InvitationWithdrawn' &&
    other.type === 'InvitationWithdrawn' &&
    other.data.invitation_id === one.data.invitation_id
  );
}

function giverOf({ offered_by: by, offered_at }: OfferEntry): GivenAccess {
  return { by, at: new Date(offered_at), commandId: null };
}

function roleChanged(userId: string, role: Role): ProjectEvent {
  return { type: 'MemberRoleChanged', data: { user_id: userId, role } };
}
