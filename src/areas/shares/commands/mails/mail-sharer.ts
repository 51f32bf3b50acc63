import { securityNoticeAggregate } from '../../../accounts/domain/security-notice/security-notice.js';
import { type OpenShare, shareAggregate } from '../../domain/share/share.js';
import { securityNoticeLifetimeMs } from '../../../accounts/domain/user/security-notices.js';
import { provedAddress } from '../../../accounts/commands/finding.js';
import { securityNoticeMessage } from '../../../accounts/mail/messages.js';
import { roleIn } from '../../../projects/domain/project/fold.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import type { ShareDeps } from '../../deps.js';
import { type MailDeps, makeMailReaction } from '../../../shared/mail-reaction.js';
import { on } from '../../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { MailOutcome } from '../../../../validation/fields.js';
import { shareAccessAggregate } from '../../domain/share-access/share-access.js';

type Deps = MailDeps & Pick<ShareDeps, 'handler' | 'sealer'>;
type SharerNotice = 'share_guessed_at' | 'share_opened';

const endOf = (kind: SharerNotice, at: Date): Date => new Date(at.getTime() + securityNoticeLifetimeMs(kind));

/**
 * Mails the sharer that wrong passwords have reached the limit of a share, at most once a day. It mails nothing when the
 * share is revoked, or after a day.
 */
export function makeMailShareGuessing(deps: Deps) {
  const { prepare, record } = makeSharerMails(deps, 'share_guessed_at');
  return makeMailReaction(deps, shareAggregate, ['ShareGuessingLimitReached'], {
    name: 'mail-share-guessing',
    deadline: ({ recordedAt }) => endOf('share_guessed_at', recordedAt),
    prepare: async (id, event) => prepare(await openShareOf(deps, id), event.id, event.recordedAt),
    record: (id, event, outcome, context) => record(id, { noticeId: event.id, outcome }, context),
  });
}

/**
 * Requests the mail about the first opening of a share, once for a share. Openings at the same moment append to one stream,
 * `securitynotice-<share id>`, so one of them requests the mail: claims keep apart the turns of one event only.
 */
export function makeRequestOpeningNotices({ handler }: Pick<ShareDeps, 'handler'>) {
  return on(shareAccessAggregate, ['ShareVerified'], {
    name: 'request-opening-notices',
    deadline: ({ recordedAt }) => endOf('share_opened', recordedAt),
    isDue: async (_, { data: { share_id: shareId } }) => {
      if ((await openShareOf({ handler }, shareId))?.notify_sharer !== true) return false;
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
export function makeMailShareOpening(deps: Deps) {
  const { prepare, record } = makeSharerMails(deps, 'share_opened');
  return makeMailReaction(deps, securityNoticeAggregate, ['SecurityNoticeRequested'], {
    name: 'mail-first-openings',
    deadline: ({ data }) => endOf('share_opened', new Date(data.opened_at)),
    prepare: async (_, { data: { share_id: shareId, opened_at } }) => {
      const share = await openShareOf(deps, shareId);
      return share?.notify_sharer === true ? prepare(share, shareId, new Date(opened_at)) : null;
    },
    record: (_, { data: { share_id: shareId } }, outcome, context) =>
      record(shareId, { noticeId: shareId, outcome }, context),
  });
}

/** Makes the mails about a share and their outcomes, each in the stream of its notice. */
function makeSharerMails(deps: Deps, kind: SharerNotice) {
  const { handler, publicUrl } = deps;
  return {
    prepare: async (share: OpenShare | null, noticeId: string, at: Date) => {
      if (share === null) return null;
      const { state: notice } = await handler.load(securityNoticeAggregate, noticeId);
      const recipient = notice.mailed ? null : await findRecipient(share);
      return recipient && { ...recipient, ...securityNoticeMessage({ kind, at, publicUrl }) };
    },
    record: async (
      shareId: string,
      { noticeId, outcome }: { readonly noticeId: string; readonly outcome: MailOutcome },
      context: CommandContext,
    ) => {
      const share = await openShareOf(deps, shareId);
      const recipient = share && (await findRecipient(share));
      if (recipient === null) return;
      const command = { type: 'MarkMailed', userId: recipient.person, kind, outcome } as const;
      await handler.handle(securityNoticeAggregate.at(noticeId), command, context);
    },
  };

  /**
   * Finds the address and the user who gets the mails about a share: the sharer, or the first owner of the project where an API
   * key made the share or the sharer has left. Null where there is no proved address.
   * @throws StoreUnavailable; errors of `Sealer.open`
   */
  async function findRecipient({ project_id, created_by }: OpenShare) {
    const { state: project } = await handler.load(projectAggregate, project_id);
    if (project.status !== 'existing') return null;
    const isMember = created_by !== null && roleIn(project, created_by) !== null;
    const userId = isMember ? created_by : project.members.find(({ role }) => role === 'owner')?.user_id;
    if (userId === undefined) return null;
    const to = await provedAddress(deps, userId);
    return to === null ? null : { person: userId, to };
  }
}

async function openShareOf({ handler }: Pick<ShareDeps, 'handler'>, shareId: string) {
  const { state: share } = await handler.load(shareAggregate, shareId);
  return share.status === 'open' ? share : null;
}
