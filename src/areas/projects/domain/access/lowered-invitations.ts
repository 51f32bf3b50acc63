import type { ProjectEvent } from '../project/events.js';
import { invitationOf, type ProjectFields } from '../project/status.js';

/**
 * Returns the open invitations of an owner that got another role. Their mail asked for a consent that is not needed any
 * more, so the members whom they add get a mail about the role (docs/design.md#members).
 * @param project before the event
 */
export function loweredAfter(
  lowered: ReadonlySet<string>,
  event: ProjectEvent,
  project: Pick<ProjectFields, 'invitations'>,
): ReadonlySet<string> {
  if (event.type === 'MemberAdded' || event.type === 'InvitationWithdrawn') {
    return without(lowered, event.data.invitation_id);
  }
  if (event.type !== 'InvitationRoleChanged') return lowered;
  const { invitation_id: id, role } = event.data;
  if (role === 'owner') return without(lowered, id);
  return lowersOwner(event, project) ? new Set(lowered).add(id) : lowered;
}

/** Whether the change of an invitation takes the role of owner from it. @param project before the event */
export function lowersOwner(
  { data: { invitation_id: id, role } }: Extract<ProjectEvent, { type: 'InvitationRoleChanged' }>,
  project: Pick<ProjectFields, 'invitations'>,
): boolean {
  const held = invitationOf(project, id)?.role ?? role;
  return held === 'owner' && role !== 'owner';
}

function without(lowered: ReadonlySet<string>, id: string | null): ReadonlySet<string> {
  return id === null || !lowered.has(id) ? lowered : new Set([...lowered].filter((one) => one !== id));
}
