import { paymentNoteScope } from '../../src/keys/payment-note-scope.js';
import { erased, type Sealer } from '../../src/keys/sealer.js';
import type { DecisionEntry } from './entry.js';
import type { DecisionResource } from './resource.js';

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
