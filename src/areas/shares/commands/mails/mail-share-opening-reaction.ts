import { securityNoticeAggregate } from '../../../accounts/domain/security-notice/security-notice.js';
import { type OpenShare, shareAggregate } from '../../domain/share/share.js';
import { securityNoticeLifetimeMs } from '../../../accounts/domain/user/security-notices.js';
import { securityNoticeMessage } from '../../../accounts/mail/messages.js';
import type { ShareDeps } from '../../deps.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';
import { makeFindShareRecipient } from './share-messages.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import { shareAccessAggregate } from '../../domain/share-access/share-access.js';

const kind = 'share_opened';

const endOf = (openedAt: Date): Date => new Date(openedAt.getTime() + securityNoticeLifetimeMs(kind));

/**
 * Requests the mail about the first opening of a share, once for a share. Openings at the same moment append to one stream,
 * `securitynotice-<share id>`, so one of them requests the mail: claims keep apart the turns of one event only.
 */
export function makeRequestOpeningNotices({ handler }: Pick<ShareDeps, 'handler'>) {
  return on(shareAccessAggregate, ['ShareVerified'], {
    name: 'request-opening-notices',
    deadline: ({ recordedAt }) => endOf(recordedAt),
    isDue: async (_, { data: { share_id: shareId } }) => {
      if ((await notifying(handler, shareId)) === null) return false;
      const { state: notice } = await handler.load(securityNoticeAggregate, shareId);
      return !notice.requested;
    },
    run: async (_, context, event) => {
      const shareId = event.data.share_id;
      const command = { type: 'Request', shareId, openedAt: event.recordedAt } as const;
      await handler.handle(securityNoticeAggregate.at(shareId), command, context);
    },
  });
}

/**
 * Mails the sharer that a share was opened for the first time, unless the share says `notify_sharer: false`. It mails
 * nothing when the share is revoked, or after a day.
 */
export function makeMailShareOpening(deps: MailDeps & Pick<ShareDeps, 'handler' | 'sealer'>) {
  const { handler, publicUrl } = deps;
  const findRecipient = makeFindShareRecipient(deps);
  return makeMailReaction(deps, securityNoticeAggregate, ['SecurityNoticeRequested'], {
    name: 'mail-first-openings',
    deadline: ({ data }) => endOf(new Date(data.opened_at)),
    prepare: async (_, { data: { share_id: shareId, opened_at } }) => {
      const share = await notifying(handler, shareId);
      if (share === null) return null;
      const { state: notice } = await handler.load(securityNoticeAggregate, shareId);
      const recipient = notice.mailed ? null : await findRecipient(share);
      if (recipient === null) return null;
      const message = securityNoticeMessage({ kind, at: new Date(opened_at), publicUrl });
      return { to: recipient.to, person: recipient.userId, ...message };
    },
    record: async (_, { data: { share_id: shareId } }, outcome, context) => {
      const { state: share } = await handler.load(shareAggregate, shareId);
      const recipient = share.status === 'open' ? await findRecipient(share) : null;
      if (recipient === null) return;
      const { userId } = recipient;
      const command = { type: 'MarkMailed', userId, kind, outcome } as const;
      await handler.handle(securityNoticeAggregate.at(shareId), command, context);
    },
  });
}

/** Returns the share if it is open and its sharer wants the mail. */
async function notifying(handler: ShareDeps['handler'], shareId: string): Promise<OpenShare | null> {
  const { state: share } = await handler.load(shareAggregate, shareId);
  return share.status === 'open' && share.notify_sharer ? share : null;
}
