import { paymentNoteScope } from '../../../src/keys/sealing/envelope.js';
import { type Sealer, erased } from '../../../src/keys/sealing/sealer.js';
import { z } from 'zod';
import { entityId, instant, namedObject } from '../../../src/validation/fields.js';
import { paymentAction, paymentId } from '../../../src/areas/payments/domain/payment.js';
import type { Recorded, Sealed } from '../../../src/event-sourcing/ports/domain-event.js';

/** An operator's decision on a payment, as documents contain it: with the sealed note. */
export type DecisionEntry = Readonly<Omit<DecisionResource, 'note'>> & {
  readonly note: Sealed;
  readonly note_of: string | null;
};

export function decisionOf(
  event: Pick<Recorded<{ readonly type: string; readonly data: unknown }>, 'metadata' | 'time'>,
  decided: Pick<DecisionEntry, 'payment_id' | 'action' | 'order_id' | 'note' | 'note_of'>,
): DecisionEntry {
  const { payment_id, action, order_id, note, note_of } = decided;
  return {
    ...{ payment_id, action, order_id, note, note_of },
    decided_by: event.metadata.actor,
    decided_at: event.time,
  };
}

/** An operator's record of a payment, as documents contain it: with the sealed reason and evidence. */
export type RecordedEntry = {
  readonly note: Sealed;
  readonly note_of: string | null;
  readonly by: string;
  readonly at: string;
};

/** A decision of an operator on a payment. */
export const paymentDecision = namedObject('PaymentDecision', {
  payment_id: paymentId,
  action: paymentAction,
  order_id: entityId.nullable().describe('The order that it concerns.'),
  note: z.string().nullable().describe('Why; null once it is gone with the buyer’s account.'),
  decided_by: z.string().describe('`user:<id>`, or `operator` at the command line.'),
  decided_at: instant,
});
type DecisionResource = z.infer<typeof paymentDecision>;

/** An operator's record of a payment that the platform did not report. */
export const paymentRecorded = namedObject('PaymentRecorded', {
  reason: z.string().nullable().describe('Why; null once it is gone with the buyer’s account.'),
  evidence: z.string().nullable().describe('How the operator knew; null once it is gone.'),
  recorded_by: z.string().describe('`user:<id>`, or `operator` at the command line.'),
  recorded_at: instant,
});
type RecordedResource = z.infer<typeof paymentRecorded>;

/** Opens the notes, and sorts by time. @throws DoesNotOpen, KeyMissing, StoreUnavailable, StoreDamaged */
export async function openDecisions(
  sealer: Pick<Sealer, 'open'>,
  entries: readonly DecisionEntry[],
): Promise<DecisionResource[]> {
  const opened = await Promise.all(
    entries.map(async ({ note: sealed, note_of, ...decision }): Promise<DecisionResource> => {
      const { scope, field } = paymentNoteScope(decision.payment_id, note_of);
      const note = await sealer.open(scope, field, sealed);
      return { ...decision, note: note === erased ? null : note };
    }),
  );
  return opened.sort((one, other) => (one.decided_at < other.decided_at ? -1 : 1));
}

const whyRecorded = z.strictObject({ reason: z.string(), evidence: z.string() });

/** Opens the reason and the evidence of a record. @throws DoesNotOpen, KeyMissing, StoreUnavailable, StoreDamaged */
export async function openRecord(
  sealer: Pick<Sealer, 'open'>,
  paymentId: string,
  { note: sealed, note_of, by, at }: RecordedEntry,
): Promise<RecordedResource> {
  const { scope, field } = paymentNoteScope(paymentId, note_of);
  const note = await sealer.open(scope, field, sealed);
  const why = note === erased ? { reason: null, evidence: null } : whyRecorded.parse(JSON.parse(note));
  return { ...why, recorded_by: by, recorded_at: at };
}
