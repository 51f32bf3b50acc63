import type { ProjectDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { projectAggregate } from '../../domain/project/project.js';
import { invitationOf } from '../../domain/project/fold.js';
import type { VerifiedHolder } from '../verified-holder.js';

export interface AcceptInvitationInput {
  readonly projectId: string;
  readonly invitationId: string;
}

/** Makes the verified holder of the invited address a member, if there is one and the invitation is open. */
export type AcceptInvitation = (input: AcceptInvitationInput, context: CommandContext) => Promise<void>;

export function makeAcceptInvitation({
  handler,
  verifiedHolder,
}: Pick<ProjectDeps, 'handler'> & {
  readonly verifiedHolder: VerifiedHolder;
}): AcceptInvitation {
  return async ({ projectId, invitationId }, context) => {
    const { state } = await handler.load(projectAggregate, projectId);
    const invitation = state.status === 'existing' ? invitationOf(state, invitationId) : null;
    if (invitation === null) return;
    const userId = await verifiedHolder(invitation.email_digest);
    if (userId === null) return;
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, { type: 'AcceptInvitation', invitationId, userId }, context);
  };
}
