import { hash } from 'node:crypto';
import type { z } from 'zod';
import { stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { invalid } from '../../../../validation/field-problems.js';
import { checkText } from '../../../../validation/text.js';
import type { PaymentDeps } from '../../deps.js';
import { type RecordedFact, contradictionOf } from '../../domain/order/contradiction.js';
import {
  orderNumber,
  parseOrderNumber,
  reportKeyOf,
  transactionStreamId,
  paymentProvider,
} from '../../domain/payment.js';
import {
  type PlacedOrder,
  type ReportedFact,
  clockSkewMs,
  orderAggregate,
  orderStatus,
  outcomesIn,
  placed,
  unusedPayments,
} from '../../domain/order/order.js';
import { rejectOrder } from '../../domain/order/rejections.js';
import { rejectPayment, transactionAggregate } from '../../domain/transaction/transaction.js';
import type { PaymentReports } from '../callbacks/reports.js';
import { type RecordRequest, factOfRecord } from './requests.js';
import { sealPaymentNote } from './resolving.js';
import type { foundPayments, paymentRecord } from '../resources.js';

type PaymentRecord = z.output<typeof paymentRecord>;

/** Makes the use cases by which operators find a payment and record one by hand. */
export function makeRecording(deps: PaymentDeps & { readonly paymentReports: PaymentReports }) {
  const { handler, orders, paymentCallbacks, paymentReports } = deps;
  return { recordPayment, findPayments };

  /**
   * Records what a platform did not report, or cannot (docs/payments/resolving.md#record-by-hand). The record is a report
   * like that of a callback: it is applied by the same rules, and the same callback later changes nothing more. The same
   * record again is known by its content, under any reason.
   * @throws CommandRejected invalid_request, order_not_found, record_contradicts, transaction_of_another_order,
   * payment_callback_full
   */
  async function recordPayment(request: RecordRequest, context: CommandContext): Promise<PaymentRecord> {
    if (request.at !== undefined && Date.parse(request.at) > context.time.getTime() + clockSkewMs)
      invalid('at', 'lies in the future', 'too_large');
    const orderId = parseOrderNumber(request.order) ?? request.order;
    const fact = factOfRecord(request);
    const reason = checkText(request.reason, 'reason', 400);
    const evidence = checkText(request.evidence, 'evidence', 400);
    const order = await requireOrder(orderId);
    const provider = request.provider ?? order.provider;
    if (provider !== order.provider) {
      rejectOrder(
        'record_contradicts',
        `the order is paid through ${order.provider}, not through ${provider}`,
      );
    }
    const transaction_id = request.transaction_id ?? null;
    await refuseOtherOrder(orderId, provider, transaction_id);
    const content = JSON.stringify([orderId, transaction_id, fact, request.at ?? null]);
    // No key of a platform begins like this.
    const key = reportKeyOf(provider, `recorded by an operator: ${content}`);
    const at = request.at === undefined ? null : new Date(request.at).toISOString();
    const why = JSON.stringify({ reason, evidence });
    const report = {
      ...{ key, digest: hash('sha256', content), is_ours: true, order_id: null },
      notifications: [{ order_number: orderNumber(orderId), transaction_id, fact, at }],
      received_at: context.time.toISOString(),
      recorded: await sealPaymentNote(deps, { paymentId: key, buyerId: order.user_id }, why),
    };
    if (!(await paymentReports.isReported(provider, report))) {
      const fields = { callback: key, provider, transactionId: transaction_id, fact, mismatch: null };
      checkRecord(order, { ...fields, at: new Date(at ?? context.time) });
    }
    const { name: id, isNew, apply } = await paymentReports.report(provider, report, context);
    return outcomeOf({ id, disposition: await apply(stepContext(context, 'apply')) }, orderId, isNew);
  }

  /**
   * Finds what was reported of a platform's transaction, and its orders. Platforms choose ids independently, so it asks for
   * each platform. @throws StoreUnavailable
   */
  async function findPayments(transactionId: string): Promise<z.output<typeof foundPayments>> {
    const [items, linked] = await Promise.all([
      paymentCallbacks.ofTransaction(transactionId),
      ordersLinkedTo(transactionId),
    ]);
    const named = items.flatMap(({ order_id, notifications }) => [
      order_id,
      ...notifications.map(({ order_number: number }) => (number === null ? null : parseOrderNumber(number))),
    ]);
    const ids = new Set([...linked, ...named].filter((id) => id !== null));
    const found = await Promise.all([...ids].map((id) => orders.forOperator(id)));
    return { items: [...items], orders: found.filter((order) => order !== null) };
  }

  async function ordersLinkedTo(transactionId: string): Promise<readonly string[]> {
    const found = await Promise.all(
      paymentProvider.options.map((provider) =>
        handler.load(transactionAggregate, transactionStreamId(provider, transactionId)),
      ),
    );
    return found.flatMap(({ state }) => (state.link === null ? [] : [state.link.order_id]));
  }

  /** A record that is held goes to no order again, so one that the order would hold is refused before it is written. */
  function checkRecord(order: PlacedOrder, reported: ReportedFact & { readonly fact: RecordedFact }): void {
    const contradiction = contradictionOf(order, reported);
    if (contradiction !== null) rejectOrder('record_contradicts', contradiction);
    if (!outcomesIn(order, [reported]).includes('full')) return;
    rejectPayment(
      'payment_callback_full',
      'the order keeps no more reports; decide on what waits in review, then record this again with its transaction',
    );
  }

  async function outcomeOf(
    { id, disposition }: Pick<PaymentRecord, 'id' | 'disposition'>,
    orderId: string,
    isNew: boolean,
  ): Promise<PaymentRecord> {
    const order = await requireOrder(orderId);
    const waiting = [...order.mismatches, ...unusedPayments(order)].map(({ reason }) => reason);
    return {
      id,
      order_id: orderId,
      order_number: orderNumber(orderId),
      outcome: isNew ? 'recorded' : 'known',
      disposition,
      order_status: orderStatus(order),
      in_review: [...new Set(waiting)],
    };
  }

  async function refuseOtherOrder(
    orderId: string,
    provider: PlacedOrder['provider'],
    transactionId: string | null,
  ): Promise<void> {
    if (transactionId === null) return;
    const { state } = await handler.load(transactionAggregate, transactionStreamId(provider, transactionId));
    if (state.link !== null && state.link.order_id !== orderId) rejectPayment('transaction_of_another_order');
  }

  async function requireOrder(orderId: string): Promise<PlacedOrder> {
    return placed((await handler.load(orderAggregate, orderId)).state);
  }
}
