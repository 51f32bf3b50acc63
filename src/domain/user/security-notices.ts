import type { Evolving } from '../../event-sourcing/decider.js';
import type { Sealed } from '../../event-sourcing/sealed.js';
import type { SecurityNoticeKind } from '../fields.js';
import type { UserEvent } from './events.js';

/** What a person is told of, by the event that it is told by; see also `tells`. */
export const securityNoticeKinds = {
  PasswordChanged: 'password_changed',
  EmailChanged: 'email_changed',
  TotpConfirmed: 'two_factor_on',
  TotpRemoved: 'two_factor_off',
  CredentialsVoided: 'two_factor_off',
  RecoveryCodeUsed: 'recovery_code_used',
  RecoveryCodesIssued: 'recovery_codes_replaced',
} as const satisfies Partial<Record<UserEvent['type'], SecurityNoticeKind>>;

export type NoticedEvent = Extract<UserEvent, { type: keyof typeof securityNoticeKinds }>;

/** A notice that somebody is to get, or has got. */
export interface SecurityNotice {
  /** Of the event that it is about. */
  readonly eventId: string;
  readonly kind: SecurityNoticeKind;
  /** The address that the account had until then, for whoever has changed it reads the next one. */
  readonly email: Sealed;
  readonly at: Date;
}

export interface SecurityNotices {
  /** Those that may still be mailed, oldest first. */
  readonly recent: readonly SecurityNotice[];
  /** Revision of the event that turned the second factor on last. */
  readonly totpConfirmedAt: bigint | null;
}

/** What notices ask of a user. */
interface Noticed {
  readonly email: Sealed;
  readonly emailVerified: boolean;
  readonly totp: { readonly status: 'off' | 'enrolling' | 'on' };
  readonly notices: SecurityNotices;
}

export const noNotices: SecurityNotices = { recent: [], totpConfirmedAt: null };

/** What happened so long ago is no news: a notice that could not be mailed until then is not mailed, in ms. */
export const securityNoticeLifetimeMs = 24 * 3_600_000;

/**
 * Whoever was told of the same thing three times within an hour knows. By kind, so that nothing is hidden behind many notices
 * of something harmless.
 */
const ofOneKindMax = 3;
const ofOneKindMs = 3_600_000;
/** An address that nobody has proved may be a stranger's, who asked for no mail. */
const ofOneKindUnprovedMs = securityNoticeLifetimeMs;

/** The notices after an event. @param before the user as the event found them */
export function noticesAfter(before: Noticed, event: Evolving<UserEvent>): SecurityNotices {
  if (!isNoticed(event)) return before.notices;
  const totpConfirmedAt = event.type === 'TotpConfirmed' ? event.revision : before.notices.totpConfirmedAt;
  const at = event.recordedAt;
  const within = (ms: number) => (notice: SecurityNotice) => at.getTime() - notice.at.getTime() < ms;
  const recent = before.notices.recent.filter(within(securityNoticeLifetimeMs));
  const kind = securityNoticeKinds[event.type];
  const ofOneKind = recent
    .filter((notice) => notice.kind === kind)
    .filter(within(before.emailVerified ? ofOneKindMs : ofOneKindUnprovedMs));
  if (!tells(event, before) || ofOneKind.length >= ofOneKindMax) return { recent, totpConfirmedAt };
  return { recent: [...recent, { eventId: event.id, kind, email: before.email, at }], totpConfirmedAt };
}

function isNoticed(event: Evolving<UserEvent>): event is Evolving<NoticedEvent> {
  return event.type in securityNoticeKinds;
}

/** Whether the event is news of its kind. */
function tells(event: Evolving<NoticedEvent>, { totp, notices }: Noticed): boolean {
  if (event.type === 'CredentialsVoided') return totp.status === 'on';
  // Those of a confirmation stand right after it, and replace none.
  if (event.type === 'RecoveryCodesIssued') return event.revision - 1n !== notices.totpConfirmedAt;
  return true;
}
