import type { ProjectDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { projectAggregate, type ProjectCommand } from '../../domain/project/project.js';
import { rejectProject } from '../../domain/project/rejections.js';
import { userAggregate } from '../../../accounts/domain/user/user.js';
import type { CountLimit } from '../../../shared/count-limit.js';
import type { ProjectResource } from '../../../../../projections/projects/projects/reader.js';

export interface AnswerInvitationInput {
  readonly userId: string;
  /** The id of an invitation to the user's proved address, or of an offer to the user. */
  readonly invitationId: string;
}

/**
 * Accepts an invitation or an offer (src/areas/projects/README.md#offers), and returns the project.
 * @throws CommandRejected offer_not_found where it does not exist, is another user's, or has ended;
 * project_limit_reached for an offer to a user who owns or pays for 100 projects
 */
export type AcceptOffer = (input: AnswerInvitationInput, context: CommandContext) => Promise<ProjectResource>;

/** Declines an invitation or an offer. @throws CommandRejected offer_not_found */
export type DeclineOffer = (input: AnswerInvitationInput, context: CommandContext) => Promise<void>;

type AnswerDeps = Pick<ProjectDeps, 'handler' | 'invitations' | 'projects'> & {
  /** Of the projects that a user owns. */
  readonly limit: CountLimit;
};

export function makeAcceptOffer(deps: AnswerDeps): AcceptOffer {
  return async (input, context) => {
    const { documents } = await answer(deps, { ...input, accepts: true }, context);
    // Null where who invited may not any more: the invitation has ended then.
    return (await deps.projects.after(documents, input.userId))?.resource ?? notFound();
  };
}

export function makeDeclineOffer(deps: AnswerDeps): DeclineOffer {
  return async (input, context) => {
    await answer(deps, { ...input, accepts: false }, context);
  };
}

async function answer(
  { handler, invitations, limit }: AnswerDeps,
  { userId, invitationId, accepts }: AnswerInvitationInput & { readonly accepts: boolean },
  context: CommandContext,
) {
  const { state: user } = await handler.load(userAggregate, userId);
  if (user.status !== 'registered') return notFound();
  const emailDigest = user.email_verified ? user.email_digest : null;
  const found = await invitations.find({ id: userId, emailDigest }, invitationId, context.time);
  if (found === null) return notFound();
  const now = context.time;
  const command: ProjectCommand =
    found.kind === 'membership' && emailDigest !== null
      ? { type: 'AnswerInvitation', invitationId, userId, emailDigest, accepts, now }
      : { type: 'AnswerOffer', offerId: invitationId, userId, accepts, now };
  const makesOwner = found.kind !== 'membership' || found.role === 'owner';
  const target = { aggregate: projectAggregate, id: found.projectId };
  const append = () => handler.handle(target, command, context);
  return accepts && makesOwner ? limit.adding(userId, found.projectId, append) : append();
}

function notFound(): never {
  return rejectProject('offer_not_found', 'there is no such invitation, or it has ended');
}
