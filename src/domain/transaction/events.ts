// These names and shapes are the storage format: a change needs a new version and an upcaster.
import { z } from 'zod';
import { type EventOf, makeEventCodec } from '../../event-sourcing/ports/event-codec.js';
import { entityId } from '../fields.js';

/** Streams `transaction-<provider>-<SHA-256 of the platform's id>`. */
export const transactionCategory = 'transaction';

const schemas = {
  /** The transaction belongs to this order from now on, and to no other. */
  TransactionLinked: z.strictObject({ order_id: entityId }),
  /** A callback that names only this transaction, and came before the link, which settles it. */
  CallbackParked: z.strictObject({ callback: z.string().min(1) }),
  /** An operator decided on the callback before the link, so the link no longer settles it. */
  CallbackUnparked: z.strictObject({ callback: z.string().min(1) }),
};

export type TransactionEvent = EventOf<typeof schemas>;
export const transactionCodec = makeEventCodec(schemas);
