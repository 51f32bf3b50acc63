import type { PaymentDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../../../event-sourcing/deciding/ids.js';
import { checkoutAggregate } from '../../domain/checkout/checkout.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import { paymentCallbackAggregate } from '../../domain/payment-callback/payment-callback.js';
import { approvalName, notificationName } from '../../domain/payment-ids.js';
import type { Disposition, PaymentNotification, PaymentProviderName } from '../../domain/payment.js';
import type { SettlePayment } from './settle-payment.js';

/**
 * Passes the notifications of an inbox on to the streams of their transactions, and tells their orders
 * (docs/design.md#settling). Returns the disposition of each report; null for one that waits.
 * @throws StoreUnavailable, Overloaded
 */
export type PassOnCallback = (
  callbackId: string,
  context: CommandContext,
) => Promise<readonly (Disposition | null)[]>;

export function makePassOnCallback({
  handler,
  settlePayment,
}: Pick<PaymentDeps, 'handler'> & { readonly settlePayment: SettlePayment }): PassOnCallback {
  return async (callbackId, context) => {
    const { callback } = (await handler.load(paymentCallbackAggregate, callbackId)).state;
    if (callback === null) return [];
    const { provider, fields_digest: digest, is_ours, notifications, received_at } = callback;
    const dispositions: (Disposition | null)[] = [];
    for (const [index, one] of notifications.entries()) {
      const key = notificationName(callbackId, index);
      const step = stepContext(context, key);
      if (one.fact.kind === 'approved' && is_ours) await approve(provider, one, key, step);
      if (one.fact.kind === 'approved' || one.fact.kind === 'nothing') continue;
      const report = { key, digest, is_ours, told: [one], order_id: null, received_at };
      const accepted = await settlePayment.accept(provider, report, step);
      dispositions.push(await accepted.settle(step));
    }
    return dispositions;
  };

  async function approve(
    provider: PaymentProviderName,
    { order_number: number, reference, event }: PaymentNotification,
    key: string,
    context: CommandContext,
  ): Promise<void> {
    const id = parseOrderNumber(number ?? '');
    if (id === null || reference === undefined) return;
    const approval = event === undefined ? key : approvalName(provider, reference, event);
    const command = { type: 'Approve', approved: { provider, reference, approval } } as const;
    await handler.handle({ aggregate: checkoutAggregate, id }, command, context);
  }
}
