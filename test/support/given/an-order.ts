import type { CommandHandler } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../src/event-sourcing/ports/command-context.js';
import type { MadePaymentData } from '../../../src/areas/payments/domain/checkout/checkout.js';
import type { PaymentFact } from '../../../src/areas/payments/domain/fact.js';
import type { OrderEvent } from '../../../src/areas/payments/domain/order/events.js';
import {
  isDue,
  orderAggregate,
  type OrderCommand,
  type OrderState,
  orderStatus,
  refundedAmount,
  type ReportedFact,
} from '../../../src/areas/payments/domain/order/order.js';
import { userId } from '../examples/ids.js';
import { sealedExample } from '../examples/sealed.js';
import { given } from './given.js';
import { firstEventAt } from './given-events.js';

type Placed = Extract<OrderEvent, { type: 'OrderPlaced' }>['data'];

/** Makes the data of an order of 999 USD at `standard`, which ends a day after the first event. */
export const anOrder = (changes: Partial<Placed> = {}): Placed => ({
  ...{ user_id: userId, project_id: null, plan_id: 'capacity-100g', grant: { capacity_bytes: 5 } },
  ...{ amount: 999, currency: 'USD', expires_at: '2026-01-03T03:04:05.000Z' },
  provider: 'standard',
  ...changes,
});

export const orderPlaced = (changes?: Partial<Placed>): OrderEvent => ({
  type: 'OrderPlaced',
  data: anOrder(changes),
});

/** Makes a report of `standard` on the payment `t1`. */
export const aReport = (fact: PaymentFact, changes: Partial<ReportedFact> = {}): ReportedFact => ({
  ...{ mismatch: null, callback: 'standard-c1', transactionId: 't1', fact, at: new Date(firstEventAt) },
  provider: 'standard',
  ...changes,
});

/** Makes a payment that `standard` made, by default with the id `made-1`. */
export const aPayment = (changes: Partial<MadePaymentData> = {}): MadePaymentData => ({
  ...{ project_id: null, reference: 'made-1', expires_at: firstEventAt },
  ...({ provider: 'standard', kind: 'redirect' } as const),
  ...{ way: sealedExample('way'), way_of: userId },
  ...changes,
});

/** Places an order under an id. */
export const placeOrderAs = (
  { handler }: { readonly handler: CommandHandler },
  id: string,
  context: CommandContext,
  changes?: Partial<Placed>,
): Promise<unknown> =>
  handler.handle({ aggregate: orderAggregate, id }, { type: 'Place', ...anOrder(changes) }, context);

/** Returns the events of the order after the commands. Each command decides on the events of the earlier ones. */
export function eventsAfter(...commands: readonly OrderCommand[]): readonly OrderEvent[] {
  return orderOf(commands).events;
}

function orderOf(commands: readonly OrderCommand[]) {
  const events: OrderEvent[] = [orderPlaced()];
  let order = given(orderAggregate, ...events);
  for (const command of commands) {
    const decided = orderAggregate.decider.decide(command, order.state);
    events.push(...decided);
    order = order.and(...decided);
  }
  return { events, state: order.state };
}

/** Returns what is seen of the order after the commands. */
export const orderAfter = (...commands: readonly OrderCommand[]) => seenOrder(orderOf(commands).state);

/** Returns what buyers and operators see of an order. */
export function seenOrder(state: OrderState) {
  if (state.status === 'absent') throw new Error('there is no order');
  return { status: orderStatus(state), refunded: refundedAmount(state), due: isDue(state) };
}
