// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/event-codec.js';
import { entityId } from '../fields.js';

const schemas = {
  /** From here on the transaction belongs to this order and to no other. */
  TransactionLinked: z.strictObject({ order_id: entityId }),
  /** A callback that names this transaction only, and came before it was linked: it is settled once it is. */
  CallbackParked: z.strictObject({ callback: z.string().min(1) }),
  /** Somebody has decided on that callback before the transaction was linked: a link is nothing to it any more. */
  CallbackUnparked: z.strictObject({ callback: z.string().min(1) }),
};

export type TransactionEvent = EventOf<typeof schemas>;
export const transactionCodec = makeEventCodec(schemas);
