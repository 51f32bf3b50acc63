import { z } from 'zod';
import type { PaymentProviderName } from '../payment.js';
import { hasValidCapture, type OrderFacts, withEntry } from './facts.js';

/** Why a captured payment bought nothing. */
export const unusedReason = z.enum(['second_payment', 'project_deleted', 'buyer_erased']);

/** Why the recipient of a paid grant is gone. */
export const goneReason = unusedReason.exclude(['second_payment']);
export type GoneReason = z.infer<typeof goneReason>;

/** A payment that counts for the order, with the report that names it. `at`: the platform's time. */
export type Capture = {
  /** The name of the first report. */
  readonly id: string;
  readonly provider: PaymentProviderName;
  /** See `transactionKey`. */
  readonly transaction: string;
  readonly transaction_id: string | null;
  /** The charged money; minor units. */
  readonly amount: number;
  readonly currency: string;
  readonly at: string;
  /** Whether an operator applied it, which decides that the order may have this payment too. */
  readonly is_applied: boolean;
};

/** A payment that bought nothing, and waits for an operator. */
export type UnusedPayment = Capture & { readonly reason: z.infer<typeof unusedReason> };

export type Captures = {
  /** One per transaction, in order of arrival. */
  readonly captures: readonly Capture[];
  /** Why no recipient takes the grant; null while there is one, or while no payment has asked for it. */
  readonly gone: GoneReason | null;
  /** The names of the payments that operators have dismissed. */
  readonly dismissed: readonly string[];
};

export const noCaptures: Captures = { captures: [], gone: null, dismissed: [] };

export function withCaptureEntry({ captures }: Captures, capture: Capture): Captures['captures'] {
  return withEntry(captures, 'transaction', capture, (known) => known);
}

/**
 * Returns the payments that bought nothing and were neither given back nor dismissed. Their number follows from the facts,
 * so it is the same in any order of arrival. Of several payments, the first by the platform's time pays the order. The time
 * of a payment is that of the report that arrived first.
 */
export function unusedPayments({
  facts,
  captures,
  gone,
  dismissed,
}: Captures & { readonly facts: OrderFacts }): readonly UnusedPayment[] {
  // Most orders have one payment and a recipient, and every event of an order asks.
  if (gone === null && captures.length < 2) return [];
  const valid = captures
    .filter(({ transaction }) =>
      facts.transactions.some((one) => one.id === transaction && hasValidCapture(one)),
    )
    .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
  const unused =
    gone === null
      ? valid
          .slice(1)
          .filter(({ is_applied }) => !is_applied)
          .map((capture) => ({ ...capture, reason: 'second_payment' as const }))
      : valid.map((capture) => ({ ...capture, reason: gone }));
  return unused.filter(({ id }) => !dismissed.includes(id));
}

function placeOf({ at, transaction }: Capture): string {
  return `${at}/${transaction}`;
}
