import type { ProjectDeps } from '../deps.js';
import type { ReactionEvent } from '../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../event-sourcing/ports/domain-event.js';
import { erased } from '../../../keys/sealing/sealer.js';
import { securityNoticeAggregate } from '../../accounts/domain/security-notice/security-notice.js';
import { userAggregate } from '../../accounts/domain/user/user.js';
import { type MailDeps, makeMailReaction } from '../../shared/mail-reaction.js';
import { projectCategory, projectCodec, type ProjectEvent } from '../domain/project/events.js';
import { roleIn } from '../domain/project/fold.js';
import {
  memberNoticeLifetimeMs,
  type MemberNotice,
  noticedTypes,
  noticeOf,
} from '../domain/project/notices.js';
import { openAt } from '../domain/project/open-offers.js';
import { type ExistingProject, projectAggregate } from '../domain/project/project.js';
import type { Role } from '../domain/role.js';
import { memberNoticeMessage } from './member-messages.js';

type NoticedMemberEvent = Extract<ProjectEvent, { type: (typeof noticedTypes)[number] }>;

/**
 * Tells users by mail that a member gave them a role or made them an offer, within a day (src/areas/projects/README.md#offers). It mails
 * nothing when the notice was mailed, when the role or the offer has ended, or to an address that is not proved. The
 * command has counted the mail under the limits on invitations.
 */
export function mailMemberNotices(deps: MailDeps & Pick<ProjectDeps, 'handler' | 'sealer' | 'users'>) {
  const { handler, sealer, users, publicUrl } = deps;
  return makeMailReaction<NoticedMemberEvent>(deps, {
    name: 'mail-member-notices',
    category: projectCategory,
    codec: projectCodec,
    types: noticedTypes,
    deadline: ({ recordedAt }) => new Date(recordedAt.getTime() + memberNoticeLifetimeMs),
    prepare: async (event) => {
      const notice = noticeOf(event);
      if (notice === null) return null;
      const projectId = streamIdOf(event);
      const { state: project } = await handler.load(projectAggregate, projectId);
      const current = project.status === 'existing' ? stillHolds(event, notice, project) : null;
      if (project.status !== 'existing' || current === null) return null;
      const to = await provedAddress(notice.userId);
      if (to === null || (await handler.load(securityNoticeAggregate, event.id)).state.mailed) return null;
      const inviter = (await users.people([notice.by])).get(notice.by)?.nickname ?? '';
      const { kind, userId } = notice;
      const about = { projectName: project.name, inviter, publicUrl, projectId, userId };
      return { to, person: userId, ...memberNoticeMessage({ kind, ...about, ...current }) };
    },
    record: async (event, outcome, context) => {
      const notice = noticeOf(event);
      if (notice === null) return;
      const { kind, userId } = notice;
      const target = { aggregate: securityNoticeAggregate, id: event.id };
      await handler.handle(target, { type: 'MarkMailed', userId, kind, outcome }, context);
    },
  });

  async function provedAddress(userId: string): Promise<string | null> {
    const { state: user } = await handler.load(userAggregate, userId);
    if (user.status !== 'registered' || !user.email_verified) return null;
    const address = await sealer.open({ kind: 'person', userId }, 'email', user.email);
    return address === erased ? null : address;
  }
}

/** Returns the role that the user has or would get, and the end of an offer; null when the event is out of date. */
function stillHolds(
  event: ReactionEvent<NoticedMemberEvent>,
  { userId }: MemberNotice,
  project: ExistingProject,
): { readonly role: Role; readonly expiresAt: Date | null } | null {
  if (event.type === 'MemberAdded' || event.type === 'MemberRoleChanged') {
    const { role } = event.data;
    return roleIn(project, userId) === role ? { role, expiresAt: null } : null;
  }
  const { offers } = openAt(project, event.recordedAt);
  const offer = offers.find(({ id }) => id === event.data.offer_id);
  return offer === undefined ? null : { role: 'owner', expiresAt: new Date(offer.expires_at) };
}
