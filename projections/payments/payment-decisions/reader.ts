import { paymentNoteScope } from '../../../src/keys/sealing/key-scope.js';
import { erased, type Sealer } from '../../../src/keys/sealing/sealer.js';
import { z } from 'zod';
import type { DecisionEntry, DecisionResource, RecordedEntry, RecordedResource } from './resource.js';

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
