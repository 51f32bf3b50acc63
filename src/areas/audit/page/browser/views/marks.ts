import { areSameBytes } from '../proof/bytes.js';
import { leafHashOf, NoCanonicalForm, type ShownEvent } from '../entry.js';
import { ContradictingTile, type ProvenLeaves } from '../proof/tiles.js';

/** Whether an event is under the checkpoint. `not`: what is shown contradicts it. `unchecked`: the check failed to run. */
export type EventMark =
  { readonly kind: 'under' | 'unsigned' } | { readonly kind: 'not' | 'unchecked'; readonly reason: string };

/** Compares an event with the leaf at its index. It never throws. */
export async function markOf(
  { index, event }: { readonly index: number; readonly event: ShownEvent },
  { size, leaves }: { readonly size: number; readonly leaves: ProvenLeaves },
): Promise<EventMark> {
  if (!Number.isSafeInteger(index) || index < 0) return { kind: 'not', reason: 'It has no index.' };
  if (index >= size) return { kind: 'unsigned' };
  try {
    const [shown, signed] = await Promise.all([leafHashOf(event), leaves.leaf(index)]);
    if (areSameBytes(shown, signed)) return { kind: 'under' };
    return { kind: 'not', reason: 'The event is not the one that was signed at this index.' };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const contradicts = error instanceof ContradictingTile || error instanceof NoCanonicalForm;
    return { kind: contradicts ? 'not' : 'unchecked', reason };
  }
}
