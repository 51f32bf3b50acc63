import type { Deps } from '../deps.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { stepContext } from '../../event-sourcing/deciding/ids.js';
import { checkoutAggregate, isApprovalOwed } from '../../domain/checkout/checkout.js';
import { parseOrderNumber } from '../../domain/order/number.js';
import { paymentCallbackAggregate } from '../../domain/payment-callback/payment-callback.js';
import { transactionAggregate } from '../../domain/transaction/transaction.js';
import { isRejection } from '../shared/rejections.js';
import {
  approvalName,
  notificationName,
  ownStreamId,
  transactionStreamId,
} from '../../domain/payment-ids.js';
import type { NewReport, Pace, SettlePayment } from './settle-payment.js';

/** Passes the notifications of an inbox on to the streams of their transactions (docs/design.md#settling). */
export interface PassOnCallback {
  /** Says whether a notification is in no stream of a transaction. */
  isOwed(callbackId: string): Promise<boolean>;
  /** Passes the notifications on, and tells their orders. @throws StoreUnavailable, Overloaded */
  passOn(callbackId: string, context: CommandContext, pace?: Pace): Promise<void>;
}

export function makePassOnCallback({
  handler,
  settlePayment,
}: Pick<Deps, 'handler'> & { readonly settlePayment: SettlePayment }): PassOnCallback {
  return {
    isOwed: async (callbackId) => {
      const { reports, approvals } = await contentOf(callbackId);
      for (const { orderId, approved } of approvals) {
        const { state } = await handler.load(checkoutAggregate, orderId);
        if (isApprovalOwed(state, approved)) return true;
      }
      for (const { report, streams } of reports) {
        const found = await Promise.all(streams.map((id) => handler.load(transactionAggregate, id)));
        if (!found.some(({ state }) => state.reports.some(({ key }) => key === report.key))) return true;
      }
      return false;
    },
    passOn: async (callbackId, context, pace = 'written') => {
      const { reports, approvals, orderId } = await contentOf(callbackId, pace);
      for (const { orderId: id, approved } of approvals) {
        const target = { aggregate: checkoutAggregate, id };
        const step = stepContext(context, `approve/${approved.approval}`);
        await handler.handle(target, { type: 'Approve', approved }, step, { isUrgent: pace === 'urgent' });
      }
      for (const { report, streams } of reports) {
        const step = stepContext(context, report.key);
        let [id] = streams;
        const isFull = (error: unknown) => isRejection(error, 'transaction_full');
        const accepted = await settlePayment
          .accept(id, report, step, { pace, orderId })
          .catch((error: unknown) => {
            if (!isFull(error)) throw error;
            id = streams[1];
            const excess = { ...report, is_excess: true } as const;
            return settlePayment.accept(id, excess, stepContext(step, 'excess'), { pace });
          });
        await settlePayment.tell(id, accepted.revision, step, pace);
      }
    },
  };

  /** Returns the reports of an inbox, each with the stream of its transaction and the stream for itself. */
  async function contentOf(callbackId: string, pace?: Pace) {
    const load = pace === 'urgent' ? 'remembered' : 'latest';
    const { state } = await handler.load(paymentCallbackAggregate, callbackId, load);
    if (state.status === 'absent' || state.isDone) return { reports: [], approvals: [], orderId: null };
    const { provider, fields_digest: digest, is_ours, notifications, received_at } = state.callback;
    const reports = notifications.flatMap((content, index) => {
      const key = notificationName(callbackId, index);
      const report: NewReport = { key, digest, is_ours, told: [content], received_at };
      const own = ownStreamId(provider, key);
      const { transaction_id: named } = content;
      const streams = [named === null ? own : transactionStreamId(provider, named), own] as const;
      const { kind } = content.fact;
      return kind === 'nothing' || kind === 'approved' ? [] : [{ report, streams }];
    });
    const approvals = notifications.flatMap(({ fact, order_number, reference, event }, index) => {
      const orderId = parseOrderNumber(order_number ?? '');
      if (fact.kind !== 'approved' || orderId === null || reference === undefined || !is_ours) return [];
      const approval =
        event === undefined ? notificationName(callbackId, index) : approvalName(provider, reference, event);
      return [{ orderId, approved: { provider, reference, approval } }];
    });
    return { reports, approvals, orderId: state.appliedTo };
  }
}
