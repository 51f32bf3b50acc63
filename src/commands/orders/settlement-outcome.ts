import type { Disposition } from '../../domain/payment-callback/status.js';
import type { HoldReason } from '../../domain/payment-callback/hold-reason.js';
import type { CallbackResolution } from '../../domain/payment-callback/payment-callback.js';

export type SettlementOutcome =
  | { readonly kind: 'settled'; readonly disposition: Disposition; readonly orderId: string | null }
  | { readonly kind: 'held'; readonly reason: HoldReason };

/** The notification reaches no order. */
export const ignored: SettlementOutcome = { kind: 'settled', disposition: 'ignored', orderId: null };

/** Holds a notification that cannot be applied; ignores it once an operator has decided on the callback. */
export function unlessResolved(resolution: CallbackResolution | null, reason: HoldReason): SettlementOutcome {
  return resolution === null ? { kind: 'held', reason } : ignored;
}

/** Returns why the callback waits, or null. Waiting for an order precedes a reason that only a dismissal ends. */
export function holdReasonOf(outcomes: readonly SettlementOutcome[]): HoldReason | null {
  const reasons = outcomes.flatMap((outcome) => (outcome.kind === 'held' ? [outcome.reason] : []));
  const waiting = reasons.find((reason) => reason !== 'unreadable' && reason !== 'order_full');
  return waiting ?? reasons[0] ?? null;
}

const rank: readonly Disposition[] = ['mismatch', 'applied', 'already_applied', 'ignored'];

/** Returns the most important disposition of a callback's notifications. */
export function mainDisposition(outcomes: readonly SettlementOutcome[]): {
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
