import type { ProjectDeps } from '../../deps.js';
import type { AcceptInvitation } from './accept-invitation.js';
import { projectCodec, type ProjectEvent, projectCategory } from '../../domain/project/events.js';
import { userCodec, type UserEvent, userCategory } from '../../../accounts/domain/user/events.js';
import type { Position } from '../../../../event-sourcing/ports/domain-event.js';
import { reactionCommandId } from '../../../../event-sourcing/deciding/ids.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

type MemberInvited = Extract<ProjectEvent, { type: 'MemberInvited' }>;
type AddressProved = Extract<UserEvent, { type: 'EmailVerified' | 'EmailChanged' }>;

/**
 * Makes an invited person a member when their account has verified the address (src/areas/projects/README.md#members). An invitation
 * looks for the account in the log. An account that verifies an address looks for invitations in the view, once that
 * has reached the event. So the later of the two finds the other.
 */
export function makeAcceptNewInvitations({
  acceptInvitation,
}: {
  readonly acceptInvitation: AcceptInvitation;
}): Reaction<MemberInvited> {
  return {
    name: 'accept-new-invitations',
    category: projectCategory,
    codec: projectCodec,
    types: ['MemberInvited'],
    // `acceptInvitation` itself reads whether an account has verified the address.
    asks: () => Promise.resolve('yes'),
    conclude: (event, context) => {
      const { invitation_id: invitationId } = event.data;
      return acceptInvitation({ projectId: streamIdOf(event), invitationId }, context);
    },
  };
}

/** Accepts the invitations of an address that was verified after them: see `makeAcceptNewInvitations`. */
export function makeAcceptOpenInvitations({
  acceptInvitation,
  members,
  projectsShowUpTo,
}: Pick<ProjectDeps, 'members'> & {
  readonly acceptInvitation: AcceptInvitation;
  /** Says whether the view of projects has reached the position. */
  readonly projectsShowUpTo: (position: Position) => boolean;
}): Reaction<AddressProved> {
  return {
    name: 'accept-open-invitations',
    category: userCategory,
    codec: userCodec,
    types: ['EmailVerified', 'EmailChanged'],
    asks: ({ position }) => Promise.resolve(projectsShowUpTo(position) ? 'yes' : 'not-yet'),
    conclude: async (event, context) => {
      for (const invitation of await members.invitationsTo(event.data.email_digest)) {
        // A repetition may find another invitation of the same project, which needs another command id.
        const commandId = reactionCommandId(context.commandId, invitation.invitationId);
        await acceptInvitation(invitation, { ...context, commandId });
      }
    },
  };
}
