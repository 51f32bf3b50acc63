import type { MemberNoticeKind } from '../fields.js';
import type { ProjectEvent } from './events.js';

/** Whom an event concerns so that they get a mail about it. */
export interface MemberNotice {
  readonly kind: MemberNoticeKind;
  readonly userId: string;
  /** The member who gave the role or made the offer. */
  readonly by: string;
}

/** The types of events that may have a notice. */
export const noticedTypes = [
  'MemberAdded',
  'MemberRoleChanged',
  'OwnershipOffered',
  'BillingOffered',
] as const;

/** Returns the notice about the event; null where the user needs none. */
export function noticeOf(event: ProjectEvent): MemberNotice | null {
  switch (event.type) {
    case 'MemberAdded':
    case 'MemberRoleChanged': {
      const { user_id: userId, given_by: by } = event.data;
      return by === undefined ? null : { kind: 'role_given', userId, by };
    }
    case 'OwnershipOffered':
      return { kind: 'ownership_offered', userId: event.data.user_id, by: event.data.offered_by };
    case 'BillingOffered':
      return { kind: 'billing_offered', userId: event.data.user_id, by: event.data.offered_by };
    default:
      return null;
  }
}
