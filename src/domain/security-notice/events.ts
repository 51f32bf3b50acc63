// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { entityId, mailOutcome, securityNoticeKind } from '../fields.js';

const schemas = {
  /** The person was told of something that happened to their account; the event that caused it says what and when. */
  SecurityNoticeMailed: z.strictObject({
    user_id: entityId,
    kind: securityNoticeKind,
    outcome: mailOutcome,
  }),
};

export type SecurityNoticeEvent = EventOf<typeof schemas>;
export const securityNoticeCodec = makeEventCodec(schemas);
