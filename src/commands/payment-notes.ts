import type { ResolutionNote } from '../domain/payment.js';
import type { Digests } from '../keys/digests.js';
import { KeyDestroyed } from '../keys/errors.js';
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
  if (buyerId !== null) {
    try {
      const scope = { kind: 'person', userId: buyerId } as const;
      const sealed = await sealer.seal(scope, `payment-note/${paymentId}`, note);
      return { note: sealed, note_of: buyerId, note_digest: digest };
    } catch (error) {
      if (!(error instanceof KeyDestroyed)) throw error;
    }
  }
  const sealed = await sealer.seal({ kind: 'payment-note', paymentId }, 'note', note);
  return { note: sealed, note_of: null, note_digest: digest };
}
