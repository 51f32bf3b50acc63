import type { MailOutcome, SecurityNoticeKind } from '../domain/fields.js';
import { securityNoticeAggregate } from '../domain/security-notice/security-notice.js';
import { userAggregate } from '../domain/user/user.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { erased, type Sealer } from '../keys/sealer.js';

export {
  type NoticedEvent,
  securityNoticeKinds,
  securityNoticeLifetimeMs,
} from '../domain/user/security-notices.js';

/** Something that happened to an account, by its event. */
export interface NoticedChange {
  readonly userId: string;
  readonly eventId: string;
  readonly kind: SecurityNoticeKind;
}

export interface NoticeToMail {
  /** The address that the account had until then. */
  readonly to: string;
  readonly kind: SecurityNoticeKind;
  /** When it happened. */
  readonly at: Date;
}

/** Mails people what happened to their accounts. */
export interface MailSecurityNotice {
  /**
   * What is to be mailed; null when there is nothing to tell, or nobody any more: it is no news, was mailed, would be one
   * notice too many (see `noticesAfter`), or the person is erased. @throws StoreUnavailable, KeyMissing
   */
  prepare(change: NoticedChange): Promise<NoticeToMail | null>;
  /** Records what became of it, once. @throws StoreUnavailable */
  markMailed(change: NoticedChange, outcome: MailOutcome, context: CommandContext): Promise<void>;
}

export function makeMailSecurityNotice({
  handler,
  sealer,
}: {
  readonly handler: CommandHandler;
  readonly sealer: Pick<Sealer, 'open'>;
}): MailSecurityNotice {
  return {
    prepare: async ({ userId, eventId }) => {
      const { state: user } = await handler.load(userAggregate, userId);
      const recent = user.status === 'registered' ? user.notices.recent : [];
      const notice = recent.find((candidate) => candidate.eventId === eventId);
      if (notice === undefined) return null;
      const { state } = await handler.load(securityNoticeAggregate, eventId);
      if (state.mailed) return null;
      const to = await sealer.open({ kind: 'person', userId }, 'email', notice.email);
      return to === erased ? null : { to, kind: notice.kind, at: notice.at };
    },
    markMailed: async ({ userId, eventId, kind }, outcome, context) => {
      const target = { aggregate: securityNoticeAggregate, id: eventId };
      await handler.handle(target, { type: 'MarkMailed', userId, kind, outcome }, context);
    },
  };
}
