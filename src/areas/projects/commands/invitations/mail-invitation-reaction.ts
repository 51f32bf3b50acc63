import { projectCategory, projectCodec, type ProjectEvent } from '../../domain/project/events.js';
import { projectAggregate } from '../../domain/project/project.js';
import { invitationOf } from '../../domain/project/fold.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { invitationMessage } from '../members/member-messages.js';
import { erased } from '../../../../keys/sealing/sealer.js';
import type { ProjectDeps } from '../../deps.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';

type MemberInvited = Extract<ProjectEvent, { type: 'MemberInvited' }>;

/**
 * Mails each invitation to a project while it is open. It mails nothing when the invitation was mailed, accepted or
 * withdrawn, or when the project is deleted. The mail names no inviter who is erased.
 */
export function makeMailInvitations(
  deps: MailDeps & Pick<ProjectDeps, 'handler' | 'sealer' | 'users'>,
): Reaction<MemberInvited> {
  const { handler, sealer, users, publicUrl } = deps;
  return makeMailReaction<MemberInvited>(deps, {
    name: 'mail-invitations',
    category: projectCategory,
    codec: projectCodec,
    types: ['MemberInvited'],
    prepare: async (event) => {
      const projectId = streamIdOf(event);
      const { invitation_id: invitationId, email, invited_by: invitedBy } = event.data;
      const { state } = await handler.load(projectAggregate, projectId);
      if (state.status !== 'existing' || state.mailed.has(invitationId)) return null;
      const invitation = invitationOf(state, invitationId);
      if (invitation === null) return null;
      const to = await sealer.open({ kind: 'invitation', projectId, invitationId }, 'email', email);
      if (to === erased) return null;
      const inviter = (await users.find(invitedBy))?.resource.nickname ?? '';
      const { role } = invitation;
      return { to, ...invitationMessage({ projectName: state.name, inviter, role, publicUrl }) };
    },
    record: async (event, outcome, context) => {
      const target = { aggregate: projectAggregate, id: streamIdOf(event) };
      const invitationId = event.data.invitation_id;
      await handler.handle(target, { type: 'MarkInvitationMailed', invitationId, outcome }, context);
    },
  });
}
