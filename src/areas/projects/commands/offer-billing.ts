import type { ProjectDeps } from '../deps.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../event-sourcing/deciding/ids.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import type { ProjectResource } from '../../../../projections/projects/projects/reader.js';
import type { CountNotice } from './members/count-notice.js';
import type { ActingSession } from './require-proved.js';

export interface OfferBillingInput {
  readonly projectId: string;
  readonly actorId: string;
  readonly session: ActingSession;
  /** A member. The acting owner takes the billing at once. */
  readonly userId: string;
}

/**
 * Offers the billing of a project to a member, who becomes an owner too (src/areas/projects/README.md#offers). A repetition changes nothing.
 * @throws CommandRejected project_not_found, member_not_found, insufficient_role, email_not_verified,
 * session_ended; TooManyAttempts beyond the limits on invitations
 */
export type OfferBilling = (
  input: OfferBillingInput,
  context: CommandContext,
) => Promise<Versioned<ProjectResource>>;

export interface WithdrawBillingOfferInput {
  readonly projectId: string;
}

/** Withdraws the open offer, if there is one. @throws CommandRejected project_not_found */
export type WithdrawBillingOffer = (
  input: WithdrawBillingOfferInput,
  context: CommandContext,
) => Promise<void>;

export function makeOfferBilling({
  handler,
  projects,
  countNotice,
}: Pick<ProjectDeps, 'handler' | 'projects'> & {
  readonly countNotice: CountNotice;
}): OfferBilling {
  return async ({ projectId, actorId, session, userId }, context) => {
    const offerId = derivedId(context, 'billing-offer');
    const made = { offerId, now: context.time };
    const command = { type: 'OfferBilling', actorId, userId, ...made } as const;
    await countNotice({ projectId, actorId, session, userId }, command);
    const { documents } = await handler.handle(
      { aggregate: projectAggregate, id: projectId },
      command,
      context,
    );
    return (
      (await projects.after(documents, actorId)) ??
      rejectProject('project_not_found', 'there is no such project')
    );
  };
}

export function makeWithdrawBillingOffer({ handler }: Pick<ProjectDeps, 'handler'>): WithdrawBillingOffer {
  return async ({ projectId }, context) => {
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, { type: 'WithdrawBillingOffer' }, context, { revokesAccess: true });
  };
}
