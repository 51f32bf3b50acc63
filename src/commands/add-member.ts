import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { CommandRejected } from '../event-sourcing/errors.js';
import { derivedId } from '../event-sourcing/ids.js';
import { requireInvitable, requireReach } from '../domain/project/members.js';
import { type ExistingProject, projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import type { Role } from '../domain/role.js';
import type { Digests } from '../keys/digests.js';
import type { Sealer } from '../keys/sealer.js';
import type { EmailAddress } from '../security/email-address.js';
import type { MemberReader, MemberResource } from '../../projections/members/reader.js';
import { checkAddress } from './check-address.js';
import type { CountInvitation } from './invitation-limits.js';
import { rejectUseCase } from './rejections.js';
import type { VerifiedHolder } from './verified-holder.js';

export interface AddMemberInput {
  readonly projectId: string;
  readonly actorId: string;
  readonly email: string;
  readonly role: Role;
}

/**
 * Adds whoever has proved that the address is theirs, at once; invites the address where nobody has (DESIGN 4.2).
 * @throws CommandRejected invalid_request, project_not_found, insufficient_role, already_member, member_limit_reached,
 * mail_not_configured; TooManyAttempts, where too much would be mailed
 */
export type AddMember = (input: AddMemberInput, context: CommandContext) => Promise<MemberResource>;

export function makeAddMember({
  handler,
  verifiedHolder,
  digests,
  sealer,
  members,
  countInvitation,
  mailConfigured,
}: {
  readonly handler: CommandHandler;
  readonly verifiedHolder: VerifiedHolder;
  readonly digests: Pick<Digests, 'email'>;
  readonly sealer: Pick<Sealer, 'seal' | 'destroy'>;
  readonly members: Pick<MemberReader, 'after'>;
  readonly countInvitation: CountInvitation;
  /** Whether the service can send mail. */
  readonly mailConfigured: boolean;
}): AddMember {
  return async (input, context) => {
    const address = checkAddress(input.email);
    const emailDigest = digests.email(address.canonical);
    const project = await requireRights(input);
    const userId = await verifiedHolder(emailDigest);
    if (userId !== null) return add(input, { userId, emailDigest }, context);
    if (!mailConfigured) {
      rejectUseCase(
        'mail_not_configured',
        'the address would have to be mailed, and no mail service is set up',
      );
    }
    const { projectId, actorId: inviterId } = input;
    const invitationId = derivedId(context, 'invitation');
    // A repetition mails nothing more, nor does what is refused.
    if (!project.invitations.has(invitationId)) {
      requireInvitable(project, emailDigest);
      await countInvitation({ projectId, inviterId, emailDigest });
    }
    return invite(input, { invitationId, address, emailDigest }, context);
  };

  /** Decided once more with the event; here so that nobody without the right learns of accounts or of mail. */
  async function requireRights({ projectId, actorId, role }: AddMemberInput): Promise<ExistingProject> {
    const { state } = await handler.load(projectAggregate, projectId);
    if (state.status !== 'existing') {
      return rejectProject('project_not_found', 'there is no such project');
    }
    requireReach(state, actorId, role);
    return state;
  }

  async function add(
    { projectId, actorId, role }: AddMemberInput,
    { userId, emailDigest }: { readonly userId: string; readonly emailDigest: string },
    context: CommandContext,
  ): Promise<MemberResource> {
    const { documents, events } = await handler.handle(
      { aggregate: projectAggregate, id: projectId },
      { type: 'AddMember', actorId, userId, emailDigest, role },
      context,
    );
    if (events.length === 0) {
      rejectProject('already_member', `the user is a member of the project already, as ${role}`);
    }
    return (await members.after(documents, userId)) ?? memberNotFound();
  }

  async function invite(
    { projectId, actorId, role }: AddMemberInput,
    { invitationId, address, emailDigest }: InvitedAddress,
    context: CommandContext,
  ): Promise<MemberResource> {
    const scope = { kind: 'invitation', projectId, invitationId } as const;
    const email = await sealer.seal(scope, 'email', address.address);
    try {
      const { documents } = await handler.handle(
        { aggregate: projectAggregate, id: projectId },
        { type: 'InviteMember', actorId, invitationId, email, emailDigest, role },
        context,
      );
      return (await members.after(documents, invitationId)) ?? memberNotFound();
    } catch (error) {
      // Refused: nothing was kept that the key would open.
      if (error instanceof CommandRejected) await sealer.destroy(scope);
      throw error;
    }
  }
}

interface InvitedAddress {
  readonly invitationId: string;
  readonly address: EmailAddress;
  readonly emailDigest: string;
}

function memberNotFound(): never {
  return rejectProject('member_not_found', 'there is no such member');
}
