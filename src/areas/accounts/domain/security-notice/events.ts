import { z } from 'zod';
import { event, type EventIn, makeEvents } from '../../../../event-sourcing/ports/events.js';
import {
  entityId,
  instant,
  mailOutcome,
  memberNoticeKind,
  securityNoticeKind,
} from '../../../../validation/fields.js';
import { outcomeInWords } from '../../../../validation/text.js';

/** Streams `securitynotice-<event id>`, of a first opening `securitynotice-<share id>`: a separate stream, so that the outcome does not change the user's ETag. */
export const securityNoticeEvents = makeEvents('securitynotice-{event id}', {
  /** Appended by the first opening of a share. The notices about other events need no request, because each has one event. */
  SecurityNoticeRequested: event(
    { kind: z.literal('share_opened'), share_id: entityId, opened_at: instant },
    ({ kind, share_id, opened_at }) =>
      `requested the notice ${kind} about the first opening of share ${share_id} at ${opened_at}`,
  ),
  /** The mail server accepted or refused the notice about the event. */
  SecurityNoticeMailed: event(
    { user_id: entityId, kind: z.union([securityNoticeKind, memberNoticeKind]), outcome: mailOutcome },
    ({ user_id, kind, outcome }, id) =>
      `mailed user ${user_id} the notice ${kind} about event ${id}; ${outcomeInWords(outcome)}`,
  ),
});

export type SecurityNoticeEvent = EventIn<typeof securityNoticeEvents>;
export const { codec: securityNoticeCodec } = securityNoticeEvents;
