import type { LastingScope } from './key-scope.js';

/** Returns the scope that seals a note on a payment: the order's buyer `noteOf`, or without a buyer the note itself. */
export function paymentNoteScope(
  paymentId: string,
  noteOf: string | null,
): { readonly scope: LastingScope; readonly field: string } {
  return noteOf === null
    ? { scope: { kind: 'payment-note', paymentId }, field: 'note' }
    : { scope: { kind: 'person', userId: noteOf }, field: `payment-note/${paymentId}` };
}
