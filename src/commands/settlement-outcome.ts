import type { Disposition, HoldReason } from '../domain/payment-callback/events.js';
import type { CallbackResolution } from '../domain/payment-callback/payment-callback.js';

/** What became of one of the things that a callback tells. */
export type Outcome =
  | { readonly kind: 'settled'; readonly disposition: Disposition; readonly orderId: string | null }
  | { readonly kind: 'held'; readonly reason: HoldReason };

/** It goes nowhere. */
export const ignored: Outcome = { kind: 'settled', disposition: 'ignored', orderId: null };

/** What nobody can apply waits until somebody has decided on the callback. */
export function unlessResolved(resolution: CallbackResolution | null, reason: HoldReason): Outcome {
  return resolution === null ? { kind: 'held', reason } : ignored;
}

/** Why the callback waits; what can only be dismissed comes after what waits for an order. */
export function holdReason(outcomes: readonly Outcome[]): HoldReason | null {
  const reasons = outcomes.flatMap((outcome) => (outcome.kind === 'held' ? [outcome.reason] : []));
  const waiting = reasons.find((reason) => reason !== 'unreadable' && reason !== 'order_full');
  return waiting ?? reasons[0] ?? null;
}

const rank: readonly Disposition[] = ['mismatch', 'applied', 'already_applied', 'ignored'];

/** One disposition for all that a callback tells: the one that matters most. */
export function together(outcomes: readonly Outcome[]): {
  readonly disposition: Disposition;
  readonly orderId: string | null;
} {
  const settled = outcomes.filter((outcome) => outcome.kind === 'settled');
  for (const disposition of rank) {
    const found = settled.find((outcome) => outcome.disposition === disposition);
    if (found !== undefined) return found;
  }
  return { disposition: 'ignored', orderId: null };
}
