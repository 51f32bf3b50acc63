import { type PaymentCallbackReader, unmatchedPlace } from '../../projections/payment-callbacks/reader.js';
import type { HoldReason } from '../domain/payment-callback/events.js';
import type { PaymentProviderName } from '../domain/payment.js';
import { checkText } from '../domain/text.js';
import type { CommandContext } from '../event-sourcing/command-handler.js';
import { stepContext } from '../event-sourcing/ids.js';
import { isRejection } from './rejections.js';
import type { ResolvePayment } from './resolve-payment.js';

export interface DismissUnmatchedInput {
  readonly reason: HoldReason;
  /** Null: of any. */
  readonly provider: PaymentProviderName | null;
  /** Only what was received before. */
  readonly receivedBefore: Date;
  /** Why: 1 to 1,000 characters; each decision carries it. */
  readonly note: string;
  /** `next` of the call before; null: from the beginning. */
  readonly after: string | null;
}

/** `next`: where to go on; null when nothing follows that was received early enough. */
export interface DismissedUnmatched {
  readonly dismissed: number;
  readonly next: string | null;
}

/**
 * Dismisses callbacks that lead to no order, as if an operator had dismissed each: those of other shops that share the account with
 * the platform stay unmatched for ever otherwise. Of so many that wait it looks at `lookedAtMax` a call, the longest received first. What has found its order by
 * now, or was decided on by somebody else, stays as it is. The same call again dismisses what is left.
 * @throws CommandRejected invalid_request
 */
export type DismissUnmatched = (
  input: DismissUnmatchedInput,
  context: CommandContext,
) => Promise<DismissedUnmatched>;

const lookedAtMax = 100;

export function makeDismissUnmatched({
  resolvePayment,
  paymentCallbacks,
}: {
  readonly resolvePayment: ResolvePayment;
  readonly paymentCallbacks: Pick<PaymentCallbackReader, 'unmatched'>;
}): DismissUnmatched {
  return async ({ reason, provider, receivedBefore, note, after }, context) => {
    checkText(note, 'note', 1_000);
    const page = { limit: lookedAtMax, ...(after === null ? {} : { after }) };
    const waiting = await paymentCallbacks.unmatched(page);
    let dismissed = 0;
    for (const item of waiting) {
      const isMeant =
        item.reason === reason && (provider === null || item.provider === provider) && isEarly(item);
      if (isMeant && (await dismiss(item.id))) dismissed += 1;
    }
    const last = waiting.at(-1);
    const isLast = last === undefined || waiting.length < lookedAtMax || !isEarly(last);
    return { dismissed, next: isLast ? null : unmatchedPlace(last) };

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
        if (isDone.some((code) => isRejection(error, code))) return false;
        throw error;
      }
    }
  };
}
