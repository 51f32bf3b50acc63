import type { MemberNoticeKind } from '../../../validation/fields.js';
import type { Role } from '../domain/role.js';
import { asGiven } from '../../../mail/layout.js';
import { letter, linked } from '../../accounts/mail/letter.js';
import type { MailMessage } from '../../../mail/mailer.js';
import type { ProjectDeps } from '../deps.js';
import { provedAddress } from '../../accounts/commands/finding.js';
import { securityNoticeAggregate } from '../../accounts/domain/security-notice/security-notice.js';
import { type MailDeps, makeMailReaction } from '../../shared/mail-reaction.js';
import { memberNoticeLifetimeMs, noticeOf, noticedTypes, stillNoticed } from '../domain/project/members.js';
import { projectAggregate } from '../domain/project/project.js';

/**
 * Tells users by mail that a member gave them a role or made them an offer, within a day (src/areas/projects/README.md#offers). It mails
 * nothing when the notice was mailed, when the role or the offer has ended, or to an address that is not proved. The
 * command has counted the mail under the limits on invitations.
 */
export function mailMemberNotices(deps: MailDeps & Pick<ProjectDeps, 'handler' | 'sealer' | 'users'>) {
  const { handler, users, publicUrl } = deps;
  return makeMailReaction(deps, projectAggregate, noticedTypes, {
    name: 'mail-member-notices',
    deadline: ({ recordedAt }) => new Date(recordedAt.getTime() + memberNoticeLifetimeMs),
    prepare: async (projectId, event) => {
      const notice = noticeOf(event);
      if (notice === null) return null;
      const { state: project } = await handler.load(projectAggregate, projectId);
      const current = project.status === 'existing' ? stillNoticed(event, project) : null;
      if (project.status !== 'existing' || current === null) return null;
      const to = await provedAddress(deps, notice.userId);
      if (to === null || (await handler.load(securityNoticeAggregate, event.id)).state.mailed) return null;
      const inviter = (await users.people([notice.by])).get(notice.by)?.nickname ?? '';
      const { kind, userId } = notice;
      const about = { projectName: project.name, inviter, publicUrl, projectId, userId };
      return { to, person: userId, ...memberNoticeMessage({ kind, ...about, ...current }) };
    },
    record: async (_, event, outcome, context) => {
      const notice = noticeOf(event);
      if (notice === null) return;
      const { kind, userId } = notice;
      const command = { type: 'MarkMailed', userId, kind, outcome } as const;
      await handler.handle(securityNoticeAggregate.at(event.id), command, context);
    },
  });
}

/** What the mails about a project say. Users have typed `projectName` and `inviter`. */
interface AboutProject {
  readonly projectName: string;
  /** The nickname of who invites, offers or gives the role; empty if it is unknown. */
  readonly inviter: string;
  readonly role: Role;
  readonly publicUrl: string;
}

const answers = 'GET /api/v1/auth/invitations';

/** Writes an invitation to a project. */
export function invitationMessage({ projectName, inviter, role, publicUrl }: AboutProject): MailMessage {
  const invites = `${nameOf(inviter)} invites you to the project "${asGiven(projectName)}" on Stowage, as ${role}.`;
  const how =
    role === 'owner'
      ? `You become an owner only if you accept (${answers}). To do so, register or sign in with this address and verify it:`
      : 'To accept, register or sign in with this address and verify it:';
  const ignore = 'If you do not know what this is about, ignore this mail.';
  return message('Invitation to a project', publicUrl, [invites, how, ignore]);
}

/** Writes the mail to a member, or to an owner, whom another member gave a role or made an offer. */
export function memberNoticeMessage(
  input: AboutProject & {
    readonly kind: MemberNoticeKind;
    readonly projectId: string;
    readonly userId: string;
    /** Of an offer; null for a role that is given at once. */
    readonly expiresAt: Date | null;
  },
): MailMessage {
  const { kind, projectId, userId, expiresAt, ...about } = input;
  const by = nameOf(about.inviter);
  const project = `the project "${asGiven(about.projectName)}" on Stowage`;
  const end = expiresAt === null ? '' : ` The offer ends on ${expiresAt.toISOString().slice(0, 10)}.`;
  const answer = `Nothing changes unless you accept.${end} To accept or decline, sign in (${answers}):`;
  const ignore = 'If you do not want this, ignore this mail or decline.';
  switch (kind) {
    case 'role_given':
      return message('You have a new role in a project', about.publicUrl, [
        `${by} gave you the role ${about.role} in ${project}.`,
        `To leave the project, sign in and send DELETE /api/v1/projects/${projectId}/members/${userId}:`,
        'You need not do anything to keep the role.',
      ]);
    case 'owner_offered':
      return message('The ownership of a project is offered to you', about.publicUrl, [
        `${by} wants to make you an owner of ${project}. Owners are responsible for the project and its members.`,
        answer,
        ignore,
      ]);
    case 'payer_offered':
      return message('The billing of a project is offered to you', about.publicUrl, [
        `${by} wants ${project} to be billed to you. Its assets would use the capacity of your account.`,
        answer,
        ignore,
      ]);
    case 'both_offered':
      return message('The ownership and the billing of a project are offered to you', about.publicUrl, [
        `${by} wants to make you an owner of ${project}, and to bill it to you. Owners are responsible for the project, and its assets would use the capacity of your account.`,
        answer,
        ignore,
      ]);
  }
}

/** @param sentences what happened, what to do at the URL, and the last one */
function message(
  subject: string,
  publicUrl: string,
  [what, how, last]: readonly [string, string, string],
): MailMessage {
  return letter(subject, what, linked(how, publicUrl), last);
}

function nameOf(nickname: string): string {
  return nickname === '' ? 'A member' : asGiven(nickname);
}
