import type { AcceptInvitation } from '../commands/accept-invitation.js';
import { projectCodec, type ProjectEvent } from '../domain/project/events.js';
import { projectCategory } from '../domain/project/stream.js';
import { userCodec, type UserEvent } from '../domain/user/events.js';
import { userCategory } from '../domain/user/stream.js';
import type { Position } from '../event-sourcing/domain-event.js';
import { reactionCommandId } from '../event-sourcing/ids.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import type { MemberReader } from '../../projections/members/reader.js';
import { streamIdOf } from './stream-id.js';

type MemberInvited = Extract<ProjectEvent, { type: 'MemberInvited' }>;
type AddressProved = Extract<UserEvent, { type: 'EmailVerified' | 'EmailChanged' }>;

/**
 * Makes members of those who were invited once they have proved that the address is theirs (DESIGN 4.2). An invitation
 * looks at the log for such an account, and an account that proves an address looks for its invitations in the view, once
 * that shows the log up to there. Whichever of the two came second in the log finds the other.
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
    // Accepting reads for itself whether there is anything to accept.
    asks: () => Promise.resolve('yes'),
    conclude: (event, context) => {
      const { invitation_id: invitationId } = event.data;
      return acceptInvitation({ projectId: streamIdOf(event), invitationId }, context);
    },
  };
}

/** The other half: see `makeAcceptNewInvitations`. */
export function makeAcceptOpenInvitations({
  acceptInvitation,
  members,
  projectsShowUpTo,
}: {
  readonly acceptInvitation: AcceptInvitation;
  readonly members: Pick<MemberReader, 'invitationsTo'>;
  /** Whether the view of projects shows the log up to the position. */
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
        // A repetition may find another invitation in the same project: that is another command.
        const commandId = reactionCommandId(context.commandId, invitation.invitationId);
        await acceptInvitation(invitation, { ...context, commandId });
      }
    },
  };
}
