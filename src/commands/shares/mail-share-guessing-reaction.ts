import type { MailOutcome } from '../../domain/fields.js';
import { projectAggregate } from '../../domain/project/project.js';
import { roleIn } from '../../domain/project/status.js';
import { securityNoticeAggregate } from '../../domain/security-notice/security-notice.js';
import { shareCategory, shareCodec, type ShareEvent } from '../../domain/share/events.js';
import { type OpenShare, shareAggregate } from '../../domain/share/share.js';
import { securityNoticeLifetimeMs } from '../../domain/user/security-notices.js';
import { type RegisteredUser, userAggregate } from '../../domain/user/user.js';
import { streamIdOf } from '../../event-sourcing/ports/stream-name.js';
import type { Reaction } from '../../event-sourcing/reacting/reaction.js';
import { securityNoticeMessage } from '../../integrations/mail/security-notices.js';
import { erased } from '../../keys/sealer.js';
import type { Deps } from '../deps.js';
import { type MailDeps, makeMailReaction } from '../shared/mail-reaction.js';

type LimitReached = Extract<ShareEvent, { type: 'ShareGuessingLimitReached' }>;

const kind = 'share_guessed_at';

/**
 * Mails the sharer that wrong passwords have reached the limit of a share, at most once a day. Where an API key made the
 * share, or the sharer has left, the first owner of the project gets the mail. It mails nothing when the share is
 * revoked, or after a day.
 */
export function makeMailShareGuessing(
  deps: MailDeps & Pick<Deps, 'handler' | 'sealer'>,
): Reaction<LimitReached, MailOutcome | null> {
  const { handler, sealer, publicUrl } = deps;

  return makeMailReaction<LimitReached>(deps, {
    name: 'mail-share-guessing',
    category: shareCategory,
    codec: shareCodec,
    types: ['ShareGuessingLimitReached'],
    deadline: ({ recordedAt }) => new Date(recordedAt.getTime() + securityNoticeLifetimeMs(kind)),
    prepare: async (event) => {
      const { state: share } = await handler.load(shareAggregate, streamIdOf(event));
      if (share.status !== 'open') return null;
      const { state: notice } = await handler.load(securityNoticeAggregate, event.id);
      const recipient = notice.mailed ? null : await recipientOf(share);
      if (recipient === null) return null;
      const { userId, user } = recipient;
      const to = await sealer.open({ kind: 'person', userId }, 'email', user.email);
      if (to === erased) return null;
      return { to, ...securityNoticeMessage({ kind, at: event.recordedAt, publicUrl }) };
    },
    record: async (event, outcome, context) => {
      const { state: share } = await handler.load(shareAggregate, streamIdOf(event));
      const recipient = share.status === 'open' ? await recipientOf(share) : null;
      if (recipient === null) return;
      const target = { aggregate: securityNoticeAggregate, id: event.id };
      const { userId } = recipient;
      await handler.handle(target, { type: 'MarkMailed', userId, kind, outcome }, context);
    },
  });

  async function recipientOf({
    projectId,
    createdBy,
  }: OpenShare): Promise<{ readonly userId: string; readonly user: RegisteredUser } | null> {
    const { state: project } = await handler.load(projectAggregate, projectId);
    if (project.status !== 'existing') return null;
    const isMember = createdBy !== null && roleIn(project, createdBy) !== null;
    const userId = isMember ? createdBy : project.members.find(({ role }) => role === 'owner')?.user_id;
    if (userId === undefined) return null;
    const { state: user } = await handler.load(userAggregate, userId);
    // A stranger may have registered an address that is not proved.
    return user.status === 'registered' && user.email_verified ? { userId, user } : null;
  }
}
