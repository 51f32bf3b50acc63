import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { projectAggregate } from '../domain/project/project.js';
import type { VerifiedHolder } from './verified-holder.js';

export interface AcceptInvitationInput {
  readonly projectId: string;
  readonly invitationId: string;
}

/** Makes whoever has proved that the invited address is theirs a member; where nobody has, or it was ended, nothing happens. */
export type AcceptInvitation = (input: AcceptInvitationInput, context: CommandContext) => Promise<void>;

export function makeAcceptInvitation({
  handler,
  verifiedHolder,
}: {
  readonly handler: CommandHandler;
  readonly verifiedHolder: VerifiedHolder;
}): AcceptInvitation {
  return async ({ projectId, invitationId }, context) => {
    const { state } = await handler.load(projectAggregate, projectId);
    const invitation = state.status === 'existing' ? state.invitations.get(invitationId) : undefined;
    if (invitation === undefined) return;
    const userId = await verifiedHolder(invitation.emailDigest);
    if (userId === null) return;
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, { type: 'AcceptInvitation', invitationId, userId }, context);
  };
}
