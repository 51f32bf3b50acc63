import type { ResolutionNote } from '../../domain/payment.js';
import type { Digests } from '../../../../keys/sealing/digests.js';
import { KeyDestroyed } from '../../../../keys/sealing/errors.js';
import { paymentNoteScope } from '../../../../keys/sealing/payment-note-scope.js';
import type { Sealer } from '../../../../keys/sealing/sealer.js';

/** The payment that a note is about, and the user of its order; `buyerId` is null where there is no order. */
export interface NoteSubject {
  readonly paymentId: string;
  readonly buyerId: string | null;
}

/**
 * Seals an operator's note on a payment. It may name the buyer, so the buyer's key seals it, and an erasure makes it
 * unreadable. A note on a payment without an order, or of an erased buyer, has a separate key.
 */
export async function sealPaymentNote(
  { sealer, digests }: { readonly sealer: Pick<Sealer, 'seal'>; readonly digests: Pick<Digests, 'of'> },
  { paymentId, buyerId }: NoteSubject,
  note: string,
): Promise<ResolutionNote> {
  const digest = digests.of('payment-note', JSON.stringify([paymentId, note]));
  const sealedFor = async (personId: string | null): Promise<ResolutionNote> => {
    const { scope, field } = paymentNoteScope(paymentId, personId);
    return { note: await sealer.seal(scope, field, note), note_of: personId, note_digest: digest };
  };
  if (buyerId === null) return sealedFor(null);
  try {
    return await sealedFor(buyerId);
  } catch (error) {
    if (!(error instanceof KeyDestroyed)) throw error;
    return sealedFor(null);
  }
}
