import { securityNoticeAggregate } from '../../../accounts/domain/security-notice/security-notice.js';
import { shareAggregate } from '../../domain/share/share.js';
import { securityNoticeLifetimeMs } from '../../../accounts/domain/user/security-notices.js';
import { securityNoticeMessage } from '../../../accounts/mail/messages.js';
import type { ShareDeps } from '../../deps.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';
import { makeFindShareRecipient } from './share-messages.js';

const kind = 'share_guessed_at';

/**
 * Mails the sharer that wrong passwords have reached the limit of a share, at most once a day. It mails nothing when the
 * share is revoked, or after a day. `FindShareRecipient` says who gets the mail in place of the sharer.
 */
export function makeMailShareGuessing(deps: MailDeps & Pick<ShareDeps, 'handler' | 'sealer'>) {
  const { handler, publicUrl } = deps;
  const findRecipient = makeFindShareRecipient(deps);
  return makeMailReaction(deps, shareAggregate, ['ShareGuessingLimitReached'], {
    name: 'mail-share-guessing',
    deadline: ({ recordedAt }) => new Date(recordedAt.getTime() + securityNoticeLifetimeMs(kind)),
    prepare: async (id, event) => {
      const { state: share } = await handler.load(shareAggregate, id);
      if (share.status !== 'open') return null;
      const { state: notice } = await handler.load(securityNoticeAggregate, event.id);
      const recipient = notice.mailed ? null : await findRecipient(share);
      if (recipient === null) return null;
      const message = securityNoticeMessage({ kind, at: event.recordedAt, publicUrl });
      return { to: recipient.to, person: recipient.userId, ...message };
    },
    record: async (id, event, outcome, context) => {
      const { state: share } = await handler.load(shareAggregate, id);
      const recipient = share.status === 'open' ? await findRecipient(share) : null;
      if (recipient === null) return;
      const { userId } = recipient;
      const command = { type: 'MarkMailed', userId, kind, outcome } as const;
      await handler.handle(securityNoticeAggregate.at(event.id), command, context);
    },
  });
}
