import { isRecent } from '../../../../kit/time/clock.js';
import type { Evolving } from '../../../../event-sourcing/deciding/command-handler.js';
import type { Sealed } from '../../../../event-sourcing/ports/domain-event.js';
import type { SecurityNoticeKind } from '../../../../validation/fields.js';
import type { UserEvent } from './events.js';
import { revertibleMs } from './former-addresses.js';

/** The kind of notice by event. `isNews` decides whether the event gets one. */
export const securityNoticeKinds = {
  PasswordChanged: 'password_changed',
  EmailChanged: 'email_changed',
  EmailChangeReverted: 'email_change_reverted',
  TotpConfirmed: 'two_factor_on',
  TotpRemoved: 'two_factor_off',
  CredentialsVoided: 'account_reclaimed',
  RecoveryCodeUsed: 'recovery_code_used',
  RecoveryCodesIssued: 'recovery_codes_replaced',
  GuessingLimitReached: 'account_guessed_at',
  PasskeyRegistered: 'passkey_added',
  PasskeyRemoved: 'passkey_removed',
  PasskeyCounterRegressed: 'passkey_refused',
} as const satisfies Partial<Record<UserEvent['type'], SecurityNoticeKind>>;

export type NoticedEvent = Extract<UserEvent, { type: keyof typeof securityNoticeKinds }>;

/** A notice that was mailed or may still be mailed. */
interface SecurityNotice {
  /** The event that it is about. */
  readonly eventId: string;
  readonly kind: SecurityNoticeKind;
  /** The address before the event: a thief of the account may have set the address after it. */
  readonly email: Sealed;
  readonly at: Date;
}

export interface SecurityNotices {
  /** The notices that may still be mailed, oldest first. */
  readonly recent: readonly SecurityNotice[];
  /** The revision of the last event that added a factor. */
  readonly factorAddedAt: bigint | null;
}

/** The fields of a user that notices depend on. */
interface Noticed {
  readonly email: Sealed;
  readonly email_verified: boolean;
  readonly notices: SecurityNotices;
  readonly recoveryCodes: ReadonlySet<string>;
}

export const noNotices: SecurityNotices = { recent: [], factorAddedAt: null };

/** A notice that could not be mailed within this time, in ms, is dropped. */
const lifetimeMs = 24 * 3_600_000;

/** Returns the time, in ms, after which a notice that could not be mailed is dropped. */
export function securityNoticeLifetimeMs(kind: SecurityNoticeKind): number {
  // This notice has the code that undoes the change.
  return kind === 'email_changed' ? revertibleMs : lifetimeMs;
}

/** Limits the notices of each kind separately, so that many notices of a harmless kind hide no other. */
const ofOneKindMax = 3;
const ofOneKindMs = 3_600_000;
/** An unverified address may be a stranger's, so it gets fewer mails. */
const ofOneKindUnprovedMs = lifetimeMs;

/** Returns the notices after an event. @param before the user before the event */
export function noticesAfter(before: Noticed, event: Evolving<UserEvent>): SecurityNotices {
  if (!isNoticed(event)) return before.notices;
  const isFactor = event.type === 'TotpConfirmed' || event.type === 'PasskeyRegistered';
  const factorAddedAt = isFactor ? event.revision : before.notices.factorAddedAt;
  const at = event.recordedAt;
  const recent = before.notices.recent.filter(
    (notice) => at.getTime() - notice.at.getTime() < securityNoticeLifetimeMs(notice.kind),
  );
  const kind = securityNoticeKinds[event.type];
  const periodMs = before.email_verified ? ofOneKindMs : ofOneKindUnprovedMs;
  const ofOneKind = recent.filter((notice) => notice.kind === kind && isRecent(notice.at, periodMs, at));
  // Each change of address needs another mailbox, so `nextEmailChangeAt` bounds these notices.
  const isOverLimit = kind !== 'email_changed' && ofOneKind.length >= ofOneKindMax;
  if (!isNews(event, before) || isOverLimit) return { recent, factorAddedAt };
  return { recent: [...recent, { eventId: event.id, kind, email: before.email, at }], factorAddedAt };
}

function isNoticed(event: Evolving<UserEvent>): event is Evolving<NoticedEvent> {
  return event.type in securityNoticeKinds;
}

function isNews(event: Evolving<NoticedEvent>, { notices, recoveryCodes }: Noticed): boolean {
  // The codes that come with the first factor replace none.
  if (event.type === 'RecoveryCodesIssued')
    return recoveryCodes.size > 0 || event.revision - 1n !== notices.factorAddedAt;
  return true;
}
