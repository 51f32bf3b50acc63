import { isDeepStrictEqual } from 'node:util';
import {
  isDue,
  orderAggregate,
  type OrderCommand,
  type OrderState,
  orderStatus,
  refundedAmount,
  type ReportedFact,
  unusedPayments,
} from '../../../src/areas/payments/domain/order/order.js';
import { evolve } from '../../../src/areas/payments/domain/order/state.js';
import { ledgerOf } from '../simulation/reactions/payment-ledger.js';
import { drawScene, receivedAt } from '../simulation/reactions/payment-scene.js';
import { userId } from '../examples/ids.js';

/**
 * Reports the facts of a scene's messages to one order in every possible sequence, as if all were about that order.
 * After each report the grant is marked when it is due and revoked when it is not. Returns the problem of one of the
 * results, or null.
 * @param tally counts the tried sequences
 */
export function problemOfFolds(seed: number, size: number, tally: Record<string, number>): string | null {
  const { orders, messages } = drawScene(seed, { messages: size });
  const [order] = orders;
  if (order === undefined) throw new Error('a scene has an order');
  const reports = messages.flatMap(({ key, told }) =>
    told.map(({ transaction = null, fact, at = null }): ReportedFact => ({
      ...{ callback: `${order.provider}-${key}`, provider: order.provider, transactionId: transaction },
      ...{ mismatch: null, fact },
      at: at === null ? receivedAt : new Date(at),
    })),
  );
  const placed = after(orderAggregate.decider.initialState, {
    ...({
      type: 'Place',
      user_id: userId,
      plan_id: 'p',
      currency: 'USD',
      expires_at: receivedAt.toISOString(),
    } as const),
    ...order,
  });
  const priced = reports.filter(({ fact }) => {
    const isOfCurrency = fact.kind === 'dispute' || !('currency' in fact) || fact.currency === 'USD';
    return isOfCurrency && (fact.kind !== 'paid' || fact.amount === order.amount);
  });
  const ledger = ledgerOf(
    priced.map(({ callback, transactionId, fact, at }) => {
      const isNamed = transactionId !== null;
      return { transaction: transactionId ?? callback, isNamed, fact, atMs: at.getTime() };
    }),
    { price: order.amount, ends: [] },
  );
  const waiting = reports.filter((report) => !priced.includes(report)).map(({ callback }) => callback);
  const expected = {
    ...ledger,
    status: waiting.length > 0 ? 'review' : ledger.status,
    isGranted: ledger.isDue,
    mismatches: waiting.sort(),
  };
  let unused: number | null = null;
  return fold(placed, reports, []);

  function fold(state: OrderState, left: readonly ReportedFact[], path: readonly string[]): string | null {
    if (left.length === 0) return judge(state, path);
    for (const [index, report] of left.entries()) {
      const command = { type: 'Report', reports: [report] } as const;
      const told = after(after(state, command), command);
      const marked = after(after(told, { type: 'MarkFulfilled' }), { type: 'MarkRevoked' });
      const problem = fold(marked, left.toSpliced(index, 1), [...path, report.callback]);
      if (problem !== null) return problem;
    }
    return null;
  }

  function judge(state: OrderState, path: readonly string[]): string | null {
    tally['sequences'] = (tally['sequences'] ?? 0) + 1;
    if (state.status === 'absent') throw new Error('the order was placed');
    const is = {
      ...{ status: orderStatus(state), refunded: refundedAmount(state), isDue: isDue(state) },
      ...{ isGranted: state.is_granted, mismatches: state.mismatches.map(({ id }) => id).sort() },
    };
    const count = unusedPayments(state).length;
    unused ??= count;
    if (count !== unused) return `${count} unused payments instead of ${unused} after ${path.join(', ')}`;
    if (isDeepStrictEqual(is, expected)) return null;
    return `${JSON.stringify(is)} instead of ${JSON.stringify(expected)} after ${path.join(', ')}`;
  }
}

function after(state: OrderState, command: OrderCommand): OrderState {
  return orderAggregate.decider.decide(command, state).reduce<OrderState>(evolve, state);
}
