import type { Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { ProjectEvent } from '../project/events.js';

/** The giver of a membership, an invitation or an API key; null where no user gave it. */
export interface GivenAccess {
  readonly by: string | null;
  /** The store's recorded time. */
  readonly at: Date;
}

/** By the id of the member, the invitation or the API key. Only those that the project has. */
export type GivenAccesses = ReadonlyMap<string, GivenAccess>;

/** Returns who has given what after an event. */
export function givenAfter(given: GivenAccesses, event: Evolving<ProjectEvent>): GivenAccesses {
  const now = { at: event.recordedAt };
  if (event.type === 'MemberInvited')
    return new Map(given).set(event.data.invitation_id, { by: event.data.invited_by, ...now });
  if (event.type === 'ApiKeyIssued')
    return new Map(given).set(event.data.key_id, { by: event.data.issued_by, ...now });
  if (event.type === 'InvitationRoleChanged') {
    const { invitation_id, changed_by } = event.data;
    return new Map(given).set(invitation_id, { by: changed_by, ...now });
  }
  if (event.type === 'MemberAdded') {
    const { user_id, invitation_id, given_by } = event.data;
    const invited = invitation_id === null ? undefined : given.get(invitation_id);
    const access = invited ?? { by: given_by ?? null, ...now };
    return without(given, invitation_id).set(user_id, access);
  }
  if (event.type === 'MemberRemoved') return without(given, event.data.user_id);
  if (event.type === 'InvitationWithdrawn') return without(given, event.data.invitation_id);
  return event.type === 'ApiKeyRevoked' ? without(given, event.data.key_id) : given;
}

function without(given: GivenAccesses, id: string | null): Map<string, GivenAccess> {
  const rest = new Map(given);
  if (id !== null) rest.delete(id);
  return rest;
}
