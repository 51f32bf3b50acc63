import type { MailInvitation, MemberInvited } from '../commands/mail-invitation.js';
import type { MailOutcome } from '../domain/fields.js';
import { projectCodec } from '../domain/project/events.js';
import { projectCategory } from '../domain/project/stream.js';
import type { Reaction } from '../event-sourcing/reaction.js';
import { invitationMessage } from '../integrations/mail/messages.js';
import { type MailDeps, makeMailReaction } from './mail-reaction.js';
import { streamIdOf } from './stream-id.js';

/** Mails each invitation to a project, for as long as it stands. */
export function makeMailInvitations(
  deps: MailDeps & { readonly mailInvitation: MailInvitation },
): Reaction<MemberInvited, MailOutcome | null> {
  const { mailInvitation, publicUrl } = deps;
  return makeMailReaction<MemberInvited>(deps, {
    name: 'mail-invitations',
    category: projectCategory,
    codec: projectCodec,
    types: ['MemberInvited'],
    prepare: async (event) => {
      const invitation = await mailInvitation.prepare({
        projectId: streamIdOf(event),
        invitation: event.data,
      });
      return invitation === null
        ? null
        : { to: invitation.to, ...invitationMessage({ ...invitation, publicUrl }) };
    },
    record: (event, outcome, context) =>
      mailInvitation.markMailed({ projectId: streamIdOf(event), invitation: event.data }, outcome, context),
  });
}
