import type { ForgetInvitations } from './forget-invitations.js';
import { projectCodec, type ProjectEvent, projectCategory } from '../../domain/project/events.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

type InvitationEnding = Extract<
  ProjectEvent,
  { type: 'MemberAdded' | 'InvitationWithdrawn' | 'ProjectDeleted' }
>;

/** Destroys the key of an invited address when the invitation is accepted or withdrawn, or its project deleted. */
export function makeForgetInvitationsReaction({
  forgetInvitations,
}: {
  readonly forgetInvitations: ForgetInvitations;
}): Reaction<InvitationEnding> {
  return {
    name: 'forget-invitations',
    category: projectCategory,
    codec: projectCodec,
    types: ['MemberAdded', 'InvitationWithdrawn', 'ProjectDeleted'],
    // Destroying a key again costs no more than to read whether it exists.
    asks: (event) =>
      Promise.resolve(event.type === 'MemberAdded' && event.data.invitation_id === null ? 'no' : 'yes'),
    conclude: (event) => forgetInvitations({ projectId: streamIdOf(event), ended: endedBy(event) }),
  };
}

function endedBy(event: InvitationEnding): readonly string[] {
  switch (event.type) {
    case 'MemberAdded':
      return event.data.invitation_id === null ? [] : [event.data.invitation_id];
    case 'InvitationWithdrawn':
      return [event.data.invitation_id];
    case 'ProjectDeleted':
      // `forgetInvitations` itself finds those that were open.
      return [];
  }
}
