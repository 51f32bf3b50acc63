import type { ProjectDeps } from '../deps.js';
import { derivedId, stepContext } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { CommandRejected } from '../../../event-sourcing/ports/errors.js';
import type { Sealed } from '../../../event-sourcing/ports/domain-event.js';
import { KeyDestroyed } from '../../../keys/sealing/errors.js';
import { checkAddress, requireMailable } from '../../accounts/commands/finding.js';
import { rejectUseCase } from '../../shared/rejections.js';
import type { MemberResource } from '../../../../projections/projects/members/reader.js';
import { requireReach } from '../domain/given-access.js';
import { roleIn } from '../domain/project/fold.js';
import { invitationOf, rejectEnded, requireInvitable } from '../domain/project/invitations.js';
import { wasAddedBy, noticeOf } from '../domain/project/members.js';
import { openAt, ownershipOfferTo } from '../domain/project/open-offers.js';
import {
  type ExistingProject,
  projectAggregate,
  type ProjectCommand,
  type ProjectState,
} from '../domain/project/project.js';
import { memberNotFound, projectNotFound, rejectProject } from '../domain/project/rejections.js';
import type { Role } from '../domain/role.js';
import type { CountInvitation, Invitations, VerifiedHolder } from './invitations.js';
import type { ActingSession, RequireProved } from './require-proved.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { userAggregate } from '../../accounts/domain/user/user.js';
import type { ProjectResource } from '../../../../projections/projects/projects/reader.js';
import type { EmailAddress } from '../../../validation/email-address.js';

interface AddMemberInput {
  readonly projectId: string;
  readonly actorId: string;
  readonly session: ActingSession;
  readonly email: string;
  readonly role: Role;
}

interface ChangeMemberRoleInput {
  readonly projectId: string;
  readonly actorId: string;
  readonly session: ActingSession;
  /** The id of a user or of an invitation. */
  readonly memberId: string;
  readonly role: Role;
}

/** Makes the use cases that add members and change their roles (src/areas/projects/README.md#members). */
export function makeMembers(
  deps: Pick<ProjectDeps, 'handler' | 'digests' | 'sealer' | 'members' | 'mailConfigured' | 'cannotMail'> &
    Pick<Invitations, 'acceptInvitation'> & {
      readonly verifiedHolder: VerifiedHolder;
      readonly requireProved: RequireProved;
      readonly countInvitation: CountInvitation;
      readonly countNotice: CountNotice;
    },
) {
  const { handler, verifiedHolder, digests, sealer, members } = deps;
  const { requireProved, countInvitation, countNotice, acceptInvitation, mailConfigured } = deps;
  return {
    /**
     * Returns whether an added member, an invitation or an offer has ended since. An invitation that was accepted lives as its member.
     * @param added as `addMember` returned it
     */
    hasAdditionEnded: async (
      { projectId, id, status }: { readonly projectId: string; readonly id: string; readonly status: string },
      now: Date,
    ): Promise<boolean> => {
      const { state } = await handler.load(projectAggregate, projectId);
      if (state.status !== 'existing') return true;
      const project = openAt(state, now);
      if (invitationOf(project, id) !== null) return false;
      const [userId] = [...project.additions].find(([, { invitationId }]) => invitationId === id) ?? [id];
      const role = roleIn(project, userId);
      const isOffered = status === 'offered' && userId === id && role !== 'owner';
      return role === null || (isOffered && ownershipOfferTo(project, id) === null);
    },
    /**
     * Adds the account that has verified the address; where there is none, invites the address (src/areas/projects/README.md#members). An
     * owner is invited in any case, and must accept. A repeated command returns the member or the invitation of the first one.
     * @throws CommandRejected invalid_request, project_not_found, insufficient_role, email_not_verified, already_member,
     * member_limit_reached, mail_not_configured, member_not_found where the member or invitation of a repeated command has
     * ended, session_ended; TooManyAttempts beyond the limits on invitations
     */
    addMember: async (input: AddMemberInput, context: CommandContext): Promise<MemberResource> => {
      const address = checkAddress(input.email);
      const email_digest = digests.email(address.canonical);
      const project = openAt(await requireRights(input), context.time);
      await requireProved(input);
      const userId = await verifiedHolder(email_digest);
      if (userId !== null && (input.role !== 'owner' || roleIn(project, userId) !== null))
        return add(input, { project, userId, email_digest }, context);
      if (userId === null) await requireMail(address);
      const { projectId } = input;
      const invitationId = derivedId(context, 'invitation');
      const scope = { kind: 'invitation', projectId, invitationId } as const;
      const sealing: Promise<Sealed>[] = [];
      const seal = (): Promise<Sealed> => {
        const email = sealing[0] ?? sealer.seal(scope, 'email', address.address);
        sealing[0] = email;
        return email;
      };
      try {
        // A repetition and a refused invitation send no mail, so they do not count.
        if (invitationOf(project, invitationId) === null) {
          requireInvitable(project, { invitationId, email_digest });
          await countInvitation({ ...input, email_digest }, seal);
        }
        const email = await seal();
        return await invite(input, { invitationId, email, email_digest }, context);
      } catch (error) {
        if (error instanceof KeyDestroyed) rejectEnded();
        // No event contains a value that the key opens. Beyond a limit, another attempt of the command may append one.
        if (error instanceof CommandRejected && sealing.length > 0) await sealer.destroy(scope);
        throw error;
      }
    },
    /**
     * Changes a role; offers that of an owner. The API keys of a member who is no longer an admin end, and the invitations that
     * the member could not make any more.
     * @throws CommandRejected project_not_found, member_not_found, insufficient_role, last_owner, payer_needed,
     * email_not_verified, session_ended; TooManyAttempts beyond the limits on invitations, for a higher role
     */
    changeMemberRole: async (
      { projectId, actorId, session, memberId, role }: ChangeMemberRoleInput,
      context: CommandContext,
    ): Promise<MemberResource> => {
      const offerId = derivedId(context, 'offer');
      const made = { offerId, now: context.time };
      const command = { type: 'ChangeMemberRole', actorId, memberId, role, ...made } as const;
      await countNotice({ projectId, actorId, session, userId: memberId }, command);
      const { documents } = await handler.handle(projectAggregate.at(projectId), command, context, {
        revokesAccess: true,
      });
      const member = await members.after(documents, memberId, context.time);
      const joined = role === 'owner' ? null : await acceptOwnersInvitation(projectId, memberId, context);
      return joined ?? member ?? memberNotFound();
    },
  };

  /** An invitation of an owner waits for consent. With another role it adds a user who has verified the address. */
  async function acceptOwnersInvitation(projectId: string, invitationId: string, context: CommandContext) {
    const { state } = await handler.load(projectAggregate, projectId, 'remembered');
    if (state.status !== 'existing' || invitationOf(state, invitationId) === null) return null;
    const step = stepContext(context, 'accept-invitation');
    const accepted = await acceptInvitation({ projectId, invitationId }, step);
    return accepted === null ? null : members.after(accepted.documents, accepted.userId, context.time);
  }

  /** Checks the rights before the append does, so that a caller without them learns nothing of accounts or mail. */
  async function requireRights({ projectId, actorId, role }: AddMemberInput): Promise<ExistingProject> {
    const { state } = await handler.load(projectAggregate, projectId);
    if (state.status !== 'existing') return projectNotFound();
    requireReach(state, actorId, role);
    return state;
  }

  /** Checks that the service can mail the address. @throws CommandRejected mail_not_configured, invalid_request */
  async function requireMail(address: EmailAddress): Promise<void> {
    if (!mailConfigured) {
      rejectUseCase(
        'mail_not_configured',
        'the address would have to be mailed, and no mail service is set up',
      );
    }
    await requireMailable(deps, address);
  }

  async function add(
    adding: AddMemberInput,
    input: { readonly project: ExistingProject; readonly userId: string; readonly email_digest: string },
    context: CommandContext,
  ): Promise<MemberResource> {
    const { projectId, actorId, role } = adding;
    const { project, userId, email_digest } = input;
    const made = { now: context.time, made: madeBy(context) };
    const command = { type: 'AddMember', actorId, userId, email_digest, role, ...made } as const;
    // An added user is mailed, and the reply shows that the address has an account: both are limited like invitations.
    if (projectAggregate.decider.decide(command, project).length > 0)
      await countInvitation({ ...adding, email_digest });
    const { documents, events } = await handler.handle(projectAggregate.at(projectId), command, context);
    if (events.length === 0 && !(await isRepetition(projectId, userId, context)))
      rejectProject('already_member', `the user is a member of the project already, as ${role}`);
    return (await members.after(documents, userId, context.time)) ?? memberNotFound();
  }

  /** Whether an earlier attempt of the command added the user, or invited them before they had an account. */
  async function isRepetition(projectId: string, userId: string, context: CommandContext): Promise<boolean> {
    const { state } = await handler.load(projectAggregate, projectId);
    return state.status === 'existing' && wasAddedBy(state, userId, madeBy(context));
  }

  async function invite(
    { projectId, actorId, role }: AddMemberInput,
    invitation: { readonly invitationId: string; readonly email: Sealed; readonly email_digest: string },
    context: CommandContext,
  ): Promise<MemberResource> {
    const command = { type: 'InviteMember', actorId, ...invitation, role, now: context.time } as const;
    const { documents } = await handler.handle(projectAggregate.at(projectId), command, context);
    return (await members.after(documents, invitation.invitationId, context.time)) ?? memberNotFound();
  }
}

/** Returns what an attempt of the command makes. */
function madeBy(context: CommandContext) {
  return { commandId: context.commandId, invitationId: derivedId(context, 'invitation') };
}

interface Told {
  readonly projectId: string;
  readonly actorId: string;
  readonly session: ActingSession;
  /** The id of a user, or of an invitation. */
  readonly userId: string;
}

type CountNotice = ReturnType<typeof makeCountNotice>;

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
    const changesInvitation = events.some(({ type }) => type === 'InvitationRoleChanged');
    // An invitation that does not wait for consent any more adds its user, who gets a mail.
    const addsUser = changesInvitation && waitsForConsent(userId, state);
    const isTold = addsUser || events.some((event) => noticeOf(event) !== null);
    // An invitation with another role makes a member of that role, at once or later.
    if (!isTold && !changesInvitation) return;
    await requireProved({ actorId, session });
    if (!isTold) return;
    const email_digest = await digestOf(userId, state);
    if (email_digest !== null) await countInvitation({ projectId, actorId, session, email_digest });
  };

  function waitsForConsent(memberId: string, project: ProjectState): boolean {
    return project.status === 'existing' && invitationOf(project, memberId)?.role === 'owner';
  }

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
