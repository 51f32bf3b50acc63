import type { ProjectDeps } from '../deps.js';
import { derivedId } from '../../../event-sourcing/deciding/ids.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { userAggregate } from '../../accounts/domain/user/user.js';
import type { ProjectResource } from '../../../../projections/projects/projects/reader.js';
import { invitationOf } from '../domain/project/fold.js';
import { noticeOf } from '../domain/project/members.js';
import { projectAggregate, type ProjectCommand, type ProjectState } from '../domain/project/project.js';
import { projectNotFound } from '../domain/project/rejections.js';
import type { CountInvitation } from './invitations.js';
import type { ActingSession, RequireProved } from './require-proved.js';

interface Told {
  readonly projectId: string;
  readonly actorId: string;
  readonly session: ActingSession;
  /** The id of a user, or of an invitation. */
  readonly userId: string;
}

export type CountNotice = ReturnType<typeof makeCountNotice>;

/**
 * Checks that the actor may give what a command about a member gives, and counts the mail that it would cause, under the limits on
 * invitations; does nothing for a command that gives nothing or is refused, which the append then reports.
 */
export function makeCountNotice(
  deps: ProjectDeps & { readonly requireProved: RequireProved; readonly countInvitation: CountInvitation },
) {
  const { handler, requireProved, countInvitation } = deps;
  /** @throws CommandRejected email_not_verified, session_ended; TooManyAttempts; StoreUnavailable; Overloaded */
  return async ({ projectId, actorId, session, userId }: Told, command: ProjectCommand): Promise<void> => {
    const { state } = await handler.load(projectAggregate, projectId);
    const events = projectAggregate.decider.decide(command, state);
    const isTold = events.some((event) => noticeOf(event) !== null);
    // An invitation with another role makes a member of that role, at once or later.
    if (!isTold && !events.some(({ type }) => type === 'InvitationRoleChanged')) return;
    await requireProved({ actorId, session });
    if (!isTold) return;
    const email_digest = await digestOf(userId, state);
    if (email_digest !== null) await countInvitation({ projectId, inviterId: actorId, email_digest });
  };

  /** @param memberId the id of a user, or of an invitation */
  async function digestOf(memberId: string, project: ProjectState): Promise<string | null> {
    const invitation = project.status === 'existing' ? invitationOf(project, memberId) : null;
    if (invitation !== null) return invitation.email_digest;
    const { state: user } = await handler.load(userAggregate, memberId);
    return user.status === 'registered' ? user.email_digest : null;
  }
}

/** Makes the offer of the billing of a project (src/areas/projects/README.md#offers). */
export function makeBillingOffers(deps: ProjectDeps & { readonly countNotice: CountNotice }) {
  const { handler, projects, countNotice } = deps;
  return {
    /**
     * Offers the billing to a member, who becomes an owner too; the acting owner takes it at once. A repetition changes nothing.
     * @throws CommandRejected project_not_found, member_not_found, insufficient_role, email_not_verified,
     * session_ended; TooManyAttempts beyond the limits on invitations
     */
    offerBilling: async (told: Told, context: CommandContext): Promise<Versioned<ProjectResource>> => {
      const { projectId, actorId, userId } = told;
      const made = { offerId: derivedId(context, 'billing-offer'), now: context.time };
      const command = { type: 'OfferBilling', actorId, userId, ...made } as const;
      await countNotice(told, command);
      const { documents } = await handler.handle(projectAggregate.at(projectId), command, context);
      return (await projects.after(documents, actorId)) ?? projectNotFound();
    },
    /** Withdraws the open offer, if there is one. @throws CommandRejected project_not_found */
    withdrawBillingOffer: async ({ projectId }: { projectId: string }, context: CommandContext) => {
      await handler.handle(projectAggregate.at(projectId), { type: 'WithdrawBillingOffer' }, context, {
        revokesAccess: true,
      });
    },
  };
}
