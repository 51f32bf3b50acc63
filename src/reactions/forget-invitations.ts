import type { ForgetInvitations } from '../commands/forget-invitations.js';
import { projectCodec, type ProjectEvent } from '../domain/project/events.js';
import { projectCategory } from '../domain/project/stream.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { streamIdOf } from './stream-id.js';

type InvitationEnding = Extract<
  ProjectEvent,
  { type: 'MemberAdded' | 'InvitationWithdrawn' | 'ProjectDeleted' }
>;

/** Destroys the keys of invited addresses once nobody needs them: accepted, withdrawn, or their project deleted. */
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
    // A key that was destroyed is destroyed again: that costs no more than to look.
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
      // The use case finds those that were open.
      return [];
  }
}
