import type { ResolutionNote } from '../domain/payment.js';
import type { Digests } from '../keys/digests.js';
import { KeyDestroyed } from '../keys/errors.js';
import { paymentNoteScope } from '../keys/payment-note-scope.js';
import type { Sealer } from '../keys/sealer.js';

/** Of whom a note is. `paymentId`: what was decided on; `buyerId`: of the order that it concerns, null where it concerns none. */
export interface NoteSubject {
  readonly paymentId: string;
  readonly buyerId: string | null;
}

/**
 * Seals what an operator writes about a payment. It may name the buyer, so it is sealed with the buyer's key and gone with
 * them; about a payment of nobody's, or of somebody who is erased, it has a key of its own.
 */
export async function sealPaymentNote(
  { sealer, digests }: { readonly sealer: Pick<Sealer, 'seal'>; readonly digests: Pick<Digests, 'of'> },
  { paymentId, buyerId }: NoteSubject,
  note: string,
): Promise<ResolutionNote> {
  const digest = digests.of('payment-note', JSON.stringify([paymentId, note]));
  const sealedFor = async (noteOf: string | null): Promise<ResolutionNote> => {
    const { scope, field } = paymentNoteScope(paymentId, noteOf);
    return { note: await sealer.seal(scope, field, note), note_of: noteOf, note_digest: digest };
  };
  if (buyerId === null) return sealedFor(null);
  try {
    return await sealedFor(buyerId);
  } catch (error) {
    if (!(error instanceof KeyDestroyed)) throw error;
    return sealedFor(null);
  }
}
