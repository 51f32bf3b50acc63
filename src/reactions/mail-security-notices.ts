import {
  type MailSecurityNotice,
  type NoticedChange,
  type NoticedEvent,
  securityNoticeKinds,
  securityNoticeLifetimeMs,
} from '../commands/mail-security-notice.js';
import type { MailOutcome } from '../domain/fields.js';
import { userCodec } from '../domain/user/events.js';
import { userCategory } from '../domain/user/stream.js';
import type { Reaction, ReactionEvent } from '../event-sourcing/reaction.js';
import { securityNoticeMessage } from '../integrations/mail/security-notices.js';
import { type MailDeps, makeMailReaction } from './mail-reaction.js';
import { streamIdOf } from './stream-id.js';

const types = Object.keys(securityNoticeKinds) as readonly NoticedEvent['type'][];

/** Tells people what happened to their accounts, for as long as it is news. */
export function makeMailSecurityNotices(
  deps: MailDeps & { readonly mailSecurityNotice: MailSecurityNotice },
): Reaction<NoticedEvent, MailOutcome | null> {
  const { mailSecurityNotice, publicUrl } = deps;
  return makeMailReaction<NoticedEvent>(deps, {
    name: 'mail-security-notices',
    category: userCategory,
    codec: userCodec,
    types,
    deadline: ({ recordedAt }) => new Date(recordedAt.getTime() + securityNoticeLifetimeMs),
    prepare: async (event) => {
      const notice = await mailSecurityNotice.prepare(changeOf(event));
      return notice === null ? null : { to: notice.to, ...securityNoticeMessage({ ...notice, publicUrl }) };
    },
    record: (event, outcome, context) => mailSecurityNotice.markMailed(changeOf(event), outcome, context),
  });
}

function changeOf(event: ReactionEvent<NoticedEvent>): NoticedChange {
  return { userId: streamIdOf(event), eventId: event.id, kind: securityNoticeKinds[event.type] };
}
