import type { Clock } from '../event-sourcing/clock.js';
import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { isUnpaid, orderAggregate } from '../domain/order/order.js';

/** Ends orders that nobody has paid in time (DESIGN 4.5). */
export interface ExpireOrder {
  /** Whether it has neither been paid nor ended otherwise. */
  isUnpaid(orderId: string): Promise<boolean>;
  /** Decides nothing before its time, and where it has been paid or canceled. */
  expire(orderId: string, context: CommandContext): Promise<void>;
}

export function makeExpireOrder({
  handler,
  clock,
}: {
  readonly handler: CommandHandler;
  readonly clock: Clock;
}): ExpireOrder {
  return {
    isUnpaid: async (orderId) => {
      const { state } = await handler.load(orderAggregate, orderId);
      return state.status === 'placed' && isUnpaid(state);
    },
    expire: async (orderId, context) => {
      const target = { aggregate: orderAggregate, id: orderId };
      await handler.handle(target, { type: 'Expire', now: clock.now() }, context);
    },
  };
}
