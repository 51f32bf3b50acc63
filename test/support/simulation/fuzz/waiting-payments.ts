import { randomUUID } from 'node:crypto';
import {
  notificationName,
  orderNumber,
  reportKeyOf,
  reportName,
  transactionStreamId,
} from '../../../../src/areas/payments/domain/payment-ids.js';
import { orderAggregate } from '../../../../src/areas/payments/domain/order/order.js';
import type { CommandContext } from '../../../../src/event-sourcing/ports/command-context.js';
import { derivedId } from '../../../../src/event-sourcing/deciding/ids.js';
import { digest } from '../../examples/ids.js';
import type { ServiceInProcess } from '../../servers/service-in-process.js';

/** Makes an order, and payments that wait for an operator: some without an order, some that differ from the order. */
export async function makeWaitingPayments(
  { services }: Pick<ServiceInProcess, 'services'>,
  userId: string,
  context: () => CommandContext,
): Promise<{ readonly orderId: string; readonly ids: readonly string[] }> {
  const { handler, commands, clock } = services;
  const placing = context();
  const orderId = derivedId(placing, 'order');
  await handler.handle(
    { aggregate: orderAggregate, id: orderId },
    {
      ...({
        type: 'Place',
        user_id: userId,
        project_id: null,
        plan_id: 'capacity-100g',
        provider: 'standard',
      } as const),
      ...{ grant: { capacity_bytes: 5 }, amount: 999, currency: 'USD' },
      expires_at: new Date(clock.now().getTime() + 86_400_000).toISOString(),
    },
    placing,
  );
  const notification = (number: string | null, amount: number) => ({
    ...{ order_number: number, transaction_id: randomUUID(), at: null },
    fact: { kind: 'paid', amount, currency: 'USD' } as const,
  });
  const ids: string[] = [];
  for (let n = 0; n < 6; n += 1) {
    const isHeld = n % 2 === 0;
    const told = isHeld ? notification(null, 999) : notification(orderNumber(orderId), n);
    const transaction = transactionStreamId('standard', told.transaction_id);
    const report = {
      ...{ key: reportKeyOf('standard', randomUUID()), digest, is_ours: true, notifications: [told] },
      ...{ order_id: null, received_at: clock.now().toISOString() },
    };
    const reported = await commands.paymentReports.report('standard', report, context());
    await reported.apply(context());
    const id = reportName(transaction, 0);
    ids.push(isHeld ? id : notificationName(id, 0));
  }
  return { orderId, ids };
}
