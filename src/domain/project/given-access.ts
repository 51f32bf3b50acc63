import type { ProjectEvent } from './events.js';
import type { GivenAccess } from './givers.js';
import { endOffer } from './offers.js';
import type { ExistingProject } from './state.js';
import { roleIn } from './status.js';

/** Ends the access to the project that a user has given, because the account may not be trusted. */
export interface GivenAccessCommand {
  readonly type: 'EndGivenAccess';
  readonly userId: string;
  /**
   * The store's recorded time until which access that the user gave ends: the API keys that they issued, the
   * invitations and the offers that they made. Null: at any time.
   */
  readonly until: Date | null;
  /** `end`: the members whom the user added, and those whom these added, leave. Their keys and invitations end too. */
  readonly members: 'stay' | 'end';
}

export function decideGivenAccess(
  { userId, until, members }: GivenAccessCommand,
  project: ExistingProject,
): readonly ProjectEvent[] {
  // Whether the user gave this access before the account was proved, or a member gave it who is removed for that.
  const removed = members === 'end' ? membersGiven(project, userId, until) : new Set<string>();
  const ends = ({ id }: { readonly id: string }): boolean => {
    const given = project.given.get(id);
    return given !== undefined && isGiven(given, { userId, until, removed });
  };
  const remains = project.members.filter(({ user_id }) => !removed.has(user_id));
  const lacksOwner = removed.size > 0 && !remains.some(({ role }) => role === 'owner');
  return [
    // First: a project is never without an owner, and its payer is one.
    ...(lacksOwner && roleIn(project, userId) !== null
      ? [{ type: 'MemberRoleChanged', data: { user_id: userId, role: 'owner' } } as const]
      : []),
    // The capacity of another owner must not pay in the place of one who was added without consent.
    ...(removed.has(project.billed_to) && (lacksOwner || roleIn(project, userId) === 'owner')
      ? [{ type: 'BillingChanged', data: { user_id: userId } } as const]
      : []),
    ...[...removed].map((id) => ({ type: 'MemberRemoved', data: { user_id: id } }) as const),
    ...project.api_keys
      .filter(ends)
      .map(({ id }) => ({ type: 'ApiKeyRevoked', data: { key_id: id } }) as const),
    ...project.invitations
      .filter(ends)
      .map(({ id }) => ({ type: 'InvitationWithdrawn', data: { invitation_id: id } }) as const),
    ...project.offers
      .filter(({ offered_by: by, offered_at }) =>
        isGiven({ by, at: new Date(offered_at) }, { userId, until, removed }),
      )
      .map(({ id }) => endOffer(id, 'withdrawn')),
  ];
}

/** Returns the members whom the user added, whom these added, and so on; never the user. */
function membersGiven(project: ExistingProject, userId: string, until: Date | null): ReadonlySet<string> {
  const removed = new Set<string>();
  for (let before = -1; removed.size > before;) {
    before = removed.size;
    for (const { user_id } of project.members) {
      const given = project.given.get(user_id);
      if (given === undefined || user_id === userId) continue;
      if (isGiven(given, { userId, until, removed })) removed.add(user_id);
    }
  }
  return removed;
}

function isGiven(
  { by, at }: GivenAccess,
  giver: { readonly userId: string; readonly until: Date | null; readonly removed: ReadonlySet<string> },
): boolean {
  if (by === null) return false;
  return giver.removed.has(by) || (by === giver.userId && (giver.until === null || at <= giver.until));
}
