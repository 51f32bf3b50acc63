import type { MemberNoticeKind } from '../../../../validation/fields.js';
import type { ProjectEvent } from './events.js';

/** Whom an event concerns so that they get a mail about it. */
export interface MemberNotice {
  readonly kind: MemberNoticeKind;
  readonly userId: string;
  /** The member who gave the role or made the offer. */
  readonly by: string;
}

/** A notice that could not be mailed within this time, in ms, is dropped. */
export const memberNoticeLifetimeMs = 86_400_000;

/** The types of events that may have a notice. */
export const noticedTypes = ['MemberAdded', 'MemberRoleChanged', 'OfferMade'] as const;

/** Returns the notice about the event; null where the user needs none. */
export function noticeOf(event: ProjectEvent): MemberNotice | null {
  if (event.type === 'MemberAdded' || event.type === 'MemberRoleChanged') {
    const { user_id: userId, given_by: by } = event.data;
    return by === undefined ? null : { kind: 'role_given', userId, by };
  }
  if (event.type !== 'OfferMade') return null;
  const { kind, user_id: userId, offered_by: by } = event.data;
  return { kind: `${kind}_offered`, userId, by };
}
