import type { ProjectDeps } from '../deps.js';
import { reactionCommandId } from '../../../event-sourcing/deciding/command-handler.js';
import { on } from '../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { makeSharedRateLimiter } from '../../../security/rates/shared-rate-limit.js';
import type { FindAccount } from '../../accounts/commands/finding.js';
import { provingAddress } from '../../accounts/domain/user/fold.js';
import { userAggregate } from '../../accounts/domain/user/user.js';
import type { CountLimit } from '../../shared/count-limit.js';
import { type MailDeps, makeMailReaction } from '../../shared/mail-reaction.js';
import { onceShown, type Shows } from '../../shared/once-shown.js';
import { TooManyAttempts } from '../../shared/rejections.js';
import type { ProjectResource } from '../../../../projections/projects/projects/reader.js';
import { endingInvitations, invitationOf } from '../domain/project/invitations.js';
import { projectAggregate, type ProjectCommand } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import { invitationMessage } from './member-messages.js';
import type { ActingSession, RequireProved } from './require-proved.js';

/** Finds the user who has verified the address, by the log; null where there is none. */
export type VerifiedHolder = ReturnType<typeof makeVerifiedHolder>;

export function makeVerifiedHolder({ findAccount }: { readonly findAccount: FindAccount }) {
  return async (email_digest: string) => {
    const account = await findAccount(email_digest);
    return account?.user.email_verified === true ? account.userId : null;
  };
}

const tooMany = {
  invitation_project: 'the project has invited too many addresses; wait and try again',
  invitation_inviter: 'you have invited too many addresses; wait and try again',
  invitation_address: 'the address has been invited too often; wait and try again',
} as const;

export type CountInvitation = ReturnType<typeof makeCountInvitation>;

/**
 * Limits invitations, added members, higher roles and offers, and so the mails that they cause. Otherwise an inviter could
 * invite and withdraw without end, and make the service mail any address; or add, and find out who has an account.
 */
export function makeCountInvitation(deps: ProjectDeps & { readonly requireProved: RequireProved }) {
  const { requireProved } = deps;
  const limiter = makeSharedRateLimiter({ ...deps, limits: deps.invitationLimits });
  /**
   * @param beside writes other records once the limits allow it, in one commit of embedded stores
   * @throws CommandRejected email_not_verified, session_ended; TooManyAttempts; StoreUnavailable; Overloaded
   */
  return async (
    input: {
      readonly projectId: string;
      readonly actorId: string;
      readonly session: ActingSession;
      readonly email_digest: string;
    },
    beside?: () => Promise<unknown>,
  ): Promise<void> => {
    const { projectId, actorId, email_digest } = input;
    const claims = [
      { name: 'invitation_project', key: projectId },
      { name: 'invitation_inviter', key: actorId },
      { name: 'invitation_address', key: email_digest },
    ] as const;
    const verdict = await limiter.take(claims, beside);
    if (!verdict.allowed) throw new TooManyAttempts(verdict.retryAfterSeconds, tooMany[verdict.name]);
    // The count may wait for others for seconds. A ban meanwhile has ended what the account gave, and passed this project.
    await requireProved(input);
  };
}

type OfInvitation = { readonly projectId: string; readonly invitationId: string };

interface AnswerInput {
  readonly userId: string;
  /** The id of an invitation to the user's proved address, or of an offer to the user. */
  readonly invitationId: string;
}

export type Invitations = ReturnType<typeof makeInvitations>;

/** Makes the answers to invitations and offers, and the end of the keys of invited addresses (src/areas/projects/README.md#members). */
export function makeInvitations(
  deps: ProjectDeps & {
    /** Of the projects that a user owns. */
    readonly limit: CountLimit;
    readonly verifiedHolder: VerifiedHolder;
  },
) {
  const { handler, sealer, invitations, projects, limit, verifiedHolder } = deps;
  return {
    /**
     * Makes the verified holder of the invited address a member, if there is one and the invitation is open. Returns the holder, and the
     * documents of the project; else null.
     */
    acceptInvitation: async ({ projectId, invitationId }: OfInvitation, context: CommandContext) => {
      const { state } = await handler.load(projectAggregate, projectId);
      const invitation = state.status === 'existing' ? invitationOf(state, invitationId) : null;
      if (invitation === null) return null;
      const userId = await verifiedHolder(invitation.email_digest);
      if (userId === null) return null;
      const command = { type: 'AcceptInvitation', invitationId, userId } as const;
      const { documents } = await handler.handle(projectAggregate.at(projectId), command, context);
      return { userId, documents };
    },
    /**
     * Accepts an invitation or an offer (src/areas/projects/README.md#offers), and returns the project.
     * @throws CommandRejected offer_not_found where it does not exist, is another user's, or has ended;
     * project_limit_reached for an offer to a user who owns or pays for 100 projects
     */
    acceptOffer: async (input: AnswerInput, context: CommandContext): Promise<ProjectResource> => {
      const { documents } = await answer(input, true, context);
      // Null where the user was removed meanwhile.
      return (await projects.after(documents, input.userId))?.resource ?? notFound();
    },
    /** Declines an invitation or an offer. @throws CommandRejected offer_not_found */
    declineOffer: async (input: AnswerInput, context: CommandContext): Promise<void> => {
      await answer(input, false, context);
    },
    forgetInvitations,
    forgetEndedInvitations: on(projectAggregate, endingInvitations, {
      name: 'forget-invitations',
      // Destroying a key again costs no more than to read whether it exists.
      isDue: (_, { data }) => Promise.resolve(!('invitation_id' in data) || data.invitation_id !== null),
      run: (projectId, _, { data }) => {
        const id = 'invitation_id' in data ? data.invitation_id : null;
        return forgetInvitations({ projectId, ended: id === null ? [] : [id] });
      },
    }),
  };

  async function answer({ userId, invitationId }: AnswerInput, accepts: boolean, context: CommandContext) {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered') return notFound();
    const email_digest = user.email_verified ? user.email_digest : null;
    const { time: now } = context;
    const found = await invitations.find({ id: userId, email_digest }, invitationId, now);
    if (found === null) return notFound();
    const command: ProjectCommand =
      found.kind === 'membership' && email_digest !== null
        ? { type: 'AnswerInvitation', invitationId, userId, email_digest, accepts, now }
        : { type: 'AnswerOffer', offerId: invitationId, userId, accepts, now };
    const makesOwner = found.kind !== 'membership' || found.role === 'owner';
    const append = () => handler.handle(projectAggregate.at(found.projectId), command, context);
    return accepts && makesOwner ? limit.adding(userId, found.projectId, append) : append();
  }

  /**
   * Destroys the keys of ended invitations, and of the open invitations of a deleted project.
   * @param input.ended ids of invitations that were accepted or withdrawn
   */
  async function forgetInvitations(input: {
    readonly projectId: string;
    readonly ended: readonly string[];
  }): Promise<void> {
    const { projectId, ended } = input;
    const { state } = await handler.load(projectAggregate, projectId);
    const open = state.status === 'deleted' ? state.invitationIds : [];
    for (const invitationId of [...ended, ...open]) {
      await sealer.destroy({ kind: 'invitation', projectId, invitationId });
    }
  }
}

function notFound(): never {
  return rejectProject('offer_not_found', 'there is no such invitation, or it has ended');
}

/**
 * Makes an invited person a member when their account has verified the address (src/areas/projects/README.md#members), also where the
 * invitation waited for consent until it got another role. An invitation looks for the account in the log. An account that verifies an
 * address, or gets one back, looks for invitations in the view, once that has reached the event. So the later of the two finds the other.
 */
export const acceptNewInvitations = ({ acceptInvitation }: Pick<Invitations, 'acceptInvitation'>) =>
  on(projectAggregate, ['MemberInvited', 'InvitationRoleChanged'], {
    name: 'accept-new-invitations',
    // `acceptInvitation` itself reads whether an account has verified the address.
    isDue: () => Promise.resolve(true),
    run: (projectId, context, { data }) =>
      acceptInvitation({ projectId, invitationId: data.invitation_id }, context),
  });

/** Accepts the invitations to an address that its user proved, or got back, after them: see `acceptNewInvitations`. */
export const acceptOpenInvitations = ({
  acceptInvitation,
  members,
  projectsShowUpTo,
}: Pick<ProjectDeps, 'members'> &
  Pick<Invitations, 'acceptInvitation'> & {
    /** Says whether the view of projects has reached the position. */
    readonly projectsShowUpTo: Shows;
  }) =>
  on(userAggregate, provingAddress, {
    name: 'accept-open-invitations',
    isDue: onceShown(projectsShowUpTo),
    run: async (_, context, { data }) => {
      for (const invitation of await members.invitationsTo(data.email_digest)) {
        // A repetition may find another invitation of the same project, which needs another command id.
        const commandId = reactionCommandId(context.commandId, invitation.invitationId);
        await acceptInvitation(invitation, { ...context, commandId });
      }
    },
  });

/**
 * Mails each invitation to a project while it is open. It mails nothing when the invitation was mailed, accepted or
 * withdrawn, or when the project is deleted. The mail names no inviter who is erased.
 */
export function mailInvitations(deps: MailDeps & Pick<ProjectDeps, 'handler' | 'sealer' | 'users'>) {
  const { handler, sealer, users, publicUrl } = deps;
  return makeMailReaction(deps, projectAggregate, ['MemberInvited'], {
    name: 'mail-invitations',
    prepare: async (projectId, event) => {
      const { invitation_id: invitationId, email, invited_by: invitedBy } = event.data;
      const { state } = await handler.load(projectAggregate, projectId);
      if (state.status !== 'existing' || state.mailed.has(invitationId)) return null;
      const invitation = invitationOf(state, invitationId);
      if (invitation === null) return null;
      const to = await sealer.open({ kind: 'invitation', projectId, invitationId }, 'email', email);
      const inviter = (await users.find(invitedBy))?.resource.nickname ?? '';
      const { role } = invitation;
      return { to, ...invitationMessage({ projectName: state.name, inviter, role, publicUrl }) };
    },
    record: async (id, event, outcome, context) => {
      const invitationId = event.data.invitation_id;
      const command = { type: 'MarkInvitationMailed', invitationId, outcome } as const;
      await handler.handle(projectAggregate.at(id), command, context);
    },
  });
}
