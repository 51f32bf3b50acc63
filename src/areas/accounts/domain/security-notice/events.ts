// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../../../event-sourcing/ports/event-codec.js';
import {
  entityId,
  instant,
  mailOutcome,
  memberNoticeKind,
  securityNoticeKind,
} from '../../../../validation/fields.js';

/** Streams `securitynotice-<event id>`, of a first opening `securitynotice-<share id>`: a separate stream, so that the outcome does not change the user's ETag. */
export const securityNoticeCategory = 'securitynotice';

const schemas = {
  /** Appended by the first opening of a share. The notices about other events need no request, because each has one event. */
  SecurityNoticeRequested: z.strictObject({
    kind: z.literal('share_opened'),
    share_id: entityId,
    opened_at: instant,
  }),
  /** The mail server accepted or refused the notice about the event. */
  SecurityNoticeMailed: z.strictObject({
    user_id: entityId,
    kind: z.union([securityNoticeKind, memberNoticeKind]),
    outcome: mailOutcome,
  }),
};

export type SecurityNoticeEvent = EventOf<typeof schemas>;
export const securityNoticeCodec = makeEventCodec(schemas);
