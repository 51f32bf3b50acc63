import type { AccountDeps } from '../deps.js';
import { type MailDeps, makeMailReaction } from '../../shared/mail-reaction.js';
import { securityNoticeAggregate } from '../domain/security-notice/security-notice.js';
import {
  type NoticedEvent,
  securityNoticeKinds,
  securityNoticeLifetimeMs,
} from '../domain/user/security-notices.js';
import { type RegisteredUser, userAggregate } from '../domain/user/user.js';
import { type AddressRevert, securityNoticeMessage } from '../mail/messages.js';

const types = Object.keys(securityNoticeKinds) as readonly NoticedEvent['type'][];

/**
 * Mails each change of an account to the address that the account had before, until the notice's lifetime ends. It mails
 * nothing when the notice was mailed or exceeds the limit (see `noticesAfter`), or when the person is erased.
 */
export function mailSecurityNotices(
  deps: MailDeps & Pick<AccountDeps, 'handler' | 'sealer' | 'addressRevertCodes'>,
) {
  const { handler, sealer, addressRevertCodes, publicUrl } = deps;
  return makeMailReaction(deps, userAggregate, types, {
    name: 'mail-account-notices',
    deadline: ({ type, recordedAt }) =>
      new Date(recordedAt.getTime() + securityNoticeLifetimeMs(securityNoticeKinds[type])),
    prepare: async (userId, event) => {
      const { state: user } = await handler.load(userAggregate, userId);
      const recent = user.status === 'registered' ? user.notices.recent : [];
      const notice = recent.find(({ eventId }) => eventId === event.id);
      if (notice === undefined) return null;
      const { state } = await handler.load(securityNoticeAggregate, event.id);
      if (state.mailed) return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', notice.email);
      const revert = user.status === 'registered' ? revertOf(user, event) : null;
      const keepsCodes = event.type === 'TotpRemoved' && event.data.recovery_codes === 'stay';
      const { kind, at } = notice;
      const message = securityNoticeMessage({ kind, at, publicUrl, revert, keepsCodes });
      return { to, person: userId, ...message };
    },
    record: async (id, event, outcome, context) => {
      const kind = securityNoticeKinds[event.type];
      const command = { type: 'MarkMailed', userId: id, kind, outcome } as const;
      await handler.handle(securityNoticeAggregate.at(event.id), command, context);
    },
  });

  /** Returns the code that undoes a change of address; null where there is none, or none any more. */
  function revertOf({ formerAddresses }: RegisteredUser, event: NoticedEvent): AddressRevert | null {
    const changeId = 'change_id' in event.data ? event.data.change_id : null;
    const former = formerAddresses.find(({ change_id }) => change_id === changeId);
    if (former === undefined) return null;
    const { code_key_id: kid, change_id: issue_id, email_digest, until } = former;
    return { code: addressRevertCodes.codeFor({ kid, issue_id, email_digest }), until };
  }
}
