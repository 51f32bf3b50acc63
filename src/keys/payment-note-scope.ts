import type { LastingScope } from './key-scope.js';

/**
 * Where a note on a payment is sealed: with the key of the person whom it concerns, the order's buyer, or where it concerns nobody who
 * has one with a key of its own.
 * @param paymentId what was decided on
 * @param noteOf that person; null: nobody
 */
export function paymentNoteScope(
  paymentId: string,
  noteOf: string | null,
): { readonly scope: LastingScope; readonly field: string } {
  return noteOf === null
    ? { scope: { kind: 'payment-note', paymentId }, field: 'note' }
    : { scope: { kind: 'person', userId: noteOf }, field: `payment-note/${paymentId}` };
}
