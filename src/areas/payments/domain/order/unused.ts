import { z } from 'zod';
import type { PaymentProviderName } from '../payment.js';
import { hasValidCapture, lossOf, type OrderFacts } from './facts.js';

/** Why a captured payment waits for an operator: it bought nothing, or a part of it was refunded or taken back. */
export const unusedReason = z.enum(['second_payment', 'project_deleted', 'buyer_erased', 'partial_loss']);

/** Why the recipient of a paid grant is gone. */
export const goneReason = unusedReason.exclude(['second_payment', 'partial_loss']);
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

/** A payment that bought nothing, or is partly lost, and waits for an operator. `amount`: of a partial loss, what is lost. */
type UnusedPayment = Capture & { readonly reason: z.infer<typeof unusedReason> };

export type Captures = {
  /** One per transaction, in order of arrival. */
  readonly captures: readonly Capture[];
  /** Why no recipient takes the grant; null while there is one, or while no payment has asked for it. */
  readonly gone: GoneReason | null;
  /** What operators have dismissed: see `dismissalOf`. */
  readonly dismissed: readonly string[];
};

export const noCaptures: Captures = { captures: [], gone: null, dismissed: [] };

/**
 * Returns the payments that bought nothing and were neither given back nor dismissed, and those that are lost in part.
 * Their number follows from the facts, so it is the same in any order of arrival. Of several payments, the
 * first by the platform's time pays the order. The time of a payment is that of the report that arrived first.
 */
export function unusedPayments(order: Captures & { readonly facts: OrderFacts }): readonly UnusedPayment[] {
  const { facts, captures, gone, dismissed } = order;
  // Most orders have one payment and a recipient, and every event of an order asks.
  const [first] = captures;
  if (gone === null && captures.length < 2 && (first === undefined || lostOf(facts, first) === 0)) return [];
  const valid = captures
    .filter(({ transaction }) =>
      facts.transactions.some((one) => one.id === transaction && hasValidCapture(one)),
    )
    .toSorted((one, other) => (placeOf(one) < placeOf(other) ? -1 : 1));
  const isSecond = (capture: Capture, index: number): boolean => index > 0 && !capture.is_applied;
  // Which of several payments is the first may follow from the order of arrival, so its loss waits until they are decided on.
  const hasSecond = valid.some((one, index) => isSecond(one, index) && !dismissed.includes(one.id));
  const waiting = valid.flatMap((capture, index): readonly UnusedPayment[] => {
    if (gone !== null) return [{ ...capture, reason: gone }];
    if (isSecond(capture, index)) return [{ ...capture, reason: 'second_payment' }];
    const amount = hasSecond && !capture.is_applied ? 0 : lostOf(facts, capture);
    return amount === 0 ? [] : [{ ...capture, amount, reason: 'partial_loss' }];
  });
  return waiting.filter((unused) => !dismissed.includes(dismissalOf(unused)));
}

/** Names what an operator dismisses. A further loss of the same payment is another question. */
export function dismissalOf({ id, reason, amount }: UnusedPayment): string {
  return reason === 'partial_loss' ? `${id} ${reason} ${amount}` : id;
}

function lostOf({ transactions }: OrderFacts, { transaction, currency }: Capture): number {
  const of = transactions.find(({ id }) => id === transaction);
  const ledger = of?.ledgers.find((one) => one.currency === currency);
  return of === undefined || ledger === undefined ? 0 : lossOf(of, ledger);
}

function placeOf({ at, transaction }: Capture): string {
  return `${at}/${transaction}`;
}
