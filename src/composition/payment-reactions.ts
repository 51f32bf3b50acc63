import type { AnyReaction } from '../event-sourcing/reaction.js';
import { makeExpireOrders } from '../reactions/expire-orders.js';
import { makeFulfilOrders } from '../reactions/fulfil-orders.js';
import { makeSettlePayments } from '../reactions/settle-payments.js';
import type { Services } from './services.js';

/** The reactions of orders and payments. */
export function makePaymentReactions({ commands, clock }: Services): readonly AnyReaction[] {
  return [makeExpireOrders({ ...commands, clock }), makeSettlePayments(commands), makeFulfilOrders(commands)];
}
