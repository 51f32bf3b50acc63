import type { PaymentRejection } from '../../domain/transaction/rejections.js';
import type { PaymentDeps } from '../../deps.js';
import { unmatchedPlace } from '../../../../../projections/payments/payment-callbacks/reader.js';
import type { HoldReason } from '../../domain/payment.js';
import type { PaymentProviderName } from '../../domain/payment.js';
import { checkText } from '../../../../validation/text.js';
import { steadyMsOf } from '../../../../kit/time/clock.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import { isRejection } from '../../../shared/rejections.js';
import type { ResolvePayment } from './resolve-payment.js';

export interface DismissUnmatchedInput {
  readonly reason: HoldReason;
  /** Null: every provider. */
  readonly provider: PaymentProviderName | null;
  /** Only callbacks that were received before this time. */
  readonly receivedBefore: Date;
  /** Why: 1 to 1,000 characters; each decision carries it. */
  readonly note: string;
  /** `next` of the previous call; null: from the beginning. */
  readonly after: string | null;
}

/** `next`: the cursor of the next call; null when no callback follows that was received early enough. */
export interface DismissedUnmatched {
  readonly dismissed: number;
  readonly next: string | null;
}

/**
 * Dismisses callbacks that lead to no order, as an operator would dismiss each. Otherwise callbacks of other shops that
 * share the account with the platform stay unmatched for ever. A call reads `pageSize` callbacks, the oldest first, and
 * goes on for `goesOnMsMax`. It leaves a callback alone that has found its order or has another decision. The same call again dismisses the rest.
 * @throws CommandRejected invalid_request
 */
export type DismissUnmatched = (
  input: DismissUnmatchedInput,
  context: CommandContext,
) => Promise<DismissedUnmatched>;

const pageSize = 100;

/** A request has 15 s in all (src/http/access/README.md#limit-of-a-request). A slow store must not make it one of unknown outcome. */
const goesOnMsMax = 5_000;

export function makeDismissUnmatched({
  resolvePayment,
  paymentCallbacks,
  clock,
}: Pick<PaymentDeps, 'paymentCallbacks' | 'clock'> & {
  readonly resolvePayment: ResolvePayment;
}): DismissUnmatched {
  return async ({ reason, provider, receivedBefore, note, after }, context) => {
    checkText(note, 'note', 1_000);
    const page = { limit: pageSize, ...(after === null ? {} : { after }) };
    const waiting = await paymentCallbacks.unmatched(page);
    const beganMs = steadyMsOf(clock);
    let [dismissed, passed] = [0, 0];
    for (const item of waiting) {
      if (steadyMsOf(clock) - beganMs > goesOnMsMax) break;
      passed += 1;
      const isMeant =
        item.reason === reason && (provider === null || item.provider === provider) && isEarly(item);
      if (isMeant && (await dismiss(item.id))) dismissed += 1;
    }
    return { dismissed, next: nextAfter(waiting[passed - 1], passed < waiting.length) };

    function nextAfter(last: (typeof waiting)[number] | undefined, isCut: boolean): string | null {
      const hasMore = isCut || waiting.length === pageSize;
      return last !== undefined && hasMore && isEarly(last) ? unmatchedPlace(last) : null;
    }

    function isEarly({ received_at }: { readonly received_at: string }): boolean {
      return Date.parse(received_at) < receivedBefore.getTime();
    }

    async function dismiss(id: string): Promise<boolean> {
      const decision = { id, action: 'dismiss', orderId: null, note } as const;
      try {
        await resolvePayment(decision, stepContext(context, `dismiss/${id}`));
        return true;
      } catch (error) {
        const isDone = ['payment_callback_not_held', 'payment_callback_resolved'] as const;
        if (isDone.some((code) => isRejection<PaymentRejection>(error, code))) return false;
        throw error;
      }
    }
  };
}
