import type { ProjectEvent } from './project/events.js';
import { keyRevoked } from './project/api-keys.js';
import { type ExistingProject, type GivenAccess, type ProjectFields, roleIn } from './project/fold.js';
import { endOffer, withdrawal } from './project/offers.js';
import { rejectProject } from './project/rejections.js';
import { type Role, roleAtLeast } from './role.js';

/** Owners reach all roles, admins editors and viewers: docs/projects.md#projects-and-roles. @throws CommandRejected */
export function requireReach(project: Pick<ProjectFields, 'members'>, actorId: string, role: Role): void {
  if (reaches(roleIn(project, actorId), role)) return;
  rejectProject('insufficient_role', `this needs the role ${roleAtLeast(role, 'admin') ? 'owner' : 'admin'}`);
}

/** @param acting null: no member */
export function reaches(acting: Role | null, role: Role): boolean {
  return acting === 'owner' || (acting === 'admin' && !roleAtLeast(role, 'admin'));
}

/** Ends the access to the project that a user has given, because the account may not be trusted. */
export interface GivenAccessCommand {
  readonly type: 'EndGivenAccess';
  readonly userId: string;
  /** The store's recorded time until which access that the user gave ends: API keys, invitations and offers. Null: at any time. */
  readonly until: Date | null;
  /** Access of a later time was given while a clock was ahead, and ends too. */
  readonly now: Date;
  /** `end`: the members whom the user added until then, and those whom these added, leave. What they gave ends too. */
  readonly members: 'stay' | 'end';
}

/** Clocks of stores and processes differ by less. */
const aheadMsMax = 60_000;

/** The user keeps membership and role, and owns the project where it has no other owner after that. */
export function decideGivenAccess(
  { userId, until, now, members }: GivenAccessCommand,
  project: ExistingProject,
): readonly ProjectEvent[] {
  const held = roleIn(project, userId);
  // The user was removed meanwhile, and the members may have no other owner.
  if (held === null) return [];
  const isBefore = (at: Date): boolean =>
    until === null || at <= until || at.getTime() - now.getTime() > aheadMsMax;
  const ends = ({ by, at }: GivenAccess): boolean => by === userId && isBefore(at);
  const removed = members === 'end' ? membersGiven(project, userId, ends) : new Set<string>();
  // Also what a member gave who is removed.
  const isOver = (given: GivenAccess | undefined): boolean =>
    given !== undefined && ((given.by !== null && removed.has(given.by)) || ends(given));
  const isGivenOver = ({ id }: { readonly id: string }): boolean => isOver(project.given.get(id));
  const lacksOwner =
    removed.size > 0 &&
    !project.members.some(({ user_id, role }) => role === 'owner' && !removed.has(user_id));
  const paysNow = removed.has(project.billed_to) && (lacksOwner || held === 'owner');
  return [
    // First: a project is never without an owner, and its payer is one.
    ...(lacksOwner ? [{ type: 'MemberRoleChanged', data: { user_id: userId, role: 'owner' } } as const] : []),
    // The capacity of another owner must not pay in the place of one who was added without consent.
    ...(paysNow ? [{ type: 'BillingChanged', data: { user_id: userId } } as const] : []),
    ...[...removed].map((id) => ({ type: 'MemberRemoved', data: { user_id: id } }) as const),
    ...project.api_keys.filter(isGivenOver).map(keyRevoked),
    ...project.invitations.filter(isGivenOver).map((invitation) => withdrawal(invitation)),
    ...project.offers
      .filter(({ offered_by: by, offered_at }) => isOver({ by, at: new Date(offered_at) }))
      .map(({ id }) => endOffer(id, 'withdrawn')),
  ];
}

/** Returns the members whom the user added, whom these added, and so on; never the user. */
function membersGiven(
  project: ExistingProject,
  userId: string,
  ends: (given: GivenAccess) => boolean,
): ReadonlySet<string> {
  const removed = new Set<string>();
  for (let before = -1; removed.size > before;) {
    before = removed.size;
    for (const { user_id } of project.members) {
      const given = project.given.get(user_id);
      if (given === undefined || user_id === userId) continue;
      if ((given.by !== null && removed.has(given.by)) || ends(given)) removed.add(user_id);
    }
  }
  return removed;
}
