import type { MailOutcome } from '../domain/fields.js';
import type { ProjectEvent } from '../domain/project/events.js';
import { projectAggregate } from '../domain/project/project.js';
import type { Role } from '../domain/role.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { erased, type Sealer } from '../keys/sealer.js';
import type { UserReader } from '../../projections/users/reader.js';

export type MemberInvited = Extract<ProjectEvent, { type: 'MemberInvited' }>;

/** An invitation, and the project it is to. */
export interface ProjectInvitation {
  readonly projectId: string;
  readonly invitation: MemberInvited['data'];
}

export interface InvitationToMail {
  readonly to: string;
  readonly projectName: string;
  /** Who invites; empty when that person is erased. */
  readonly inviter: string;
  readonly role: Role;
}

/** Mails the invitations to projects. */
export interface MailInvitation {
  /**
   * What is to be mailed; null when nothing is asked any more: it was mailed, accepted or withdrawn, or the project is
   * deleted. @throws StoreUnavailable
   */
  prepare(invited: ProjectInvitation): Promise<InvitationToMail | null>;
  /** Records what became of it, once. @throws StoreUnavailable */
  markMailed(invited: ProjectInvitation, outcome: MailOutcome, context: CommandContext): Promise<void>;
}

export function makeMailInvitation(deps: {
  readonly handler: CommandHandler;
  readonly sealer: Pick<Sealer, 'open'>;
  readonly users: UserReader;
}): MailInvitation {
  const { handler, sealer, users } = deps;
  return {
    prepare: async ({ projectId, invitation }) => {
      const { invitation_id: invitationId, email, invited_by } = invitation;
      const { state } = await handler.load(projectAggregate, projectId);
      const current = state.status === 'existing' ? state.invitations.get(invitationId) : undefined;
      if (state.status !== 'existing' || current?.mailed !== false) return null;
      const to = await sealer.open({ kind: 'invitation', projectId, invitationId }, 'email', email);
      if (to === erased) return null;
      const inviter = (await users.find(invited_by))?.resource.nickname ?? '';
      return { to, projectName: state.name, inviter, role: current.role };
    },
    markMailed: async ({ projectId, invitation }, outcome, context) => {
      const target = { aggregate: projectAggregate, id: projectId };
      const invitationId = invitation.invitation_id;
      await handler.handle(target, { type: 'MarkInvitationMailed', invitationId, outcome }, context);
    },
  };
}
