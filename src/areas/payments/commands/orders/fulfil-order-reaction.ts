import type { FulfilOrder } from './fulfil-order.js';
import type { GrantSource } from '../../../../validation/fields.js';
import { orderCodec, type OrderEvent, orderCategory } from '../../domain/order/events.js';
import { projectCategory, projectCodec, type ProjectEvent } from '../../../projects/domain/project/events.js';
import { userCategory, userCodec, type UserEvent } from '../../../accounts/domain/user/events.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/stream-name.js';

type FactsChanged = Extract<
  OrderEvent,
  { type: 'PaymentCaptured' | 'RefundReported' | 'DisputeClosed' | 'ReviewResolved' }
>;
type CapacityChanged = Extract<UserEvent, { type: 'CapacityGranted' | 'CapacityRevoked' }>;
type EntitlementChanged = Extract<ProjectEvent, { type: 'EntitlementGranted' | 'EntitlementRevoked' }>;

interface Fulfilling {
  readonly fulfilOrder: FulfilOrder;
}

/**
 * Grants or revokes what was bought, after every event that may change whether it is due. Reports a payment whose recipient
 * is gone.
 */
export function makeFulfilOrders({ fulfilOrder }: Fulfilling): Reaction<FactsChanged> {
  return {
    name: 'fulfil-orders',
    category: orderCategory,
    codec: orderCodec,
    types: ['PaymentCaptured', 'RefundReported', 'DisputeClosed', 'ReviewResolved'],
    asks: async (event) =>
      (await fulfilOrder.isOwed(streamIdOf(event), { order: event.revision })) ? 'yes' : 'no',
    conclude: (event, context) => fulfilOrder.fulfil(streamIdOf(event), context),
  };
}

/**
 * Compares capacity that an order gave or took with the order's facts, after every such event. A process may append a
 * grant that it decided on before a refund, and stop: docs/decisions/orders.md#0063-grants-are-checked-again.
 */
export function makeCheckCapacityGrants({ fulfilOrder }: Fulfilling): Reaction<CapacityChanged> {
  return {
    name: 'check-capacity-grants',
    category: userCategory,
    codec: userCodec,
    types: ['CapacityGranted', 'CapacityRevoked'],
    ...checkOf<CapacityChanged>(fulfilOrder),
  };
}

/** Does for entitlements of projects what `makeCheckCapacityGrants` does for capacity. */
export function makeCheckEntitlementGrants({ fulfilOrder }: Fulfilling): Reaction<EntitlementChanged> {
  return {
    name: 'check-entitlement-grants',
    category: projectCategory,
    codec: projectCodec,
    types: ['EntitlementGranted', 'EntitlementRevoked'],
    ...checkOf<EntitlementChanged>(fulfilOrder),
  };
}

function checkOf<Event extends CapacityChanged | EntitlementChanged>(
  fulfilOrder: FulfilOrder,
): Pick<Reaction<Event>, 'asks' | 'conclude'> {
  return {
    asks: async (event) => {
      const orderId = orderOf(event.data.source);
      if (orderId === null) return 'no';
      // The steps of this process end with the mark on the order, and with a look at it.
      if (fulfilOrder.isUnderWay(orderId)) return 'not-yet';
      return (await fulfilOrder.isOwed(orderId, { recipient: event.revision })) ? 'yes' : 'no';
    },
    conclude: async (event, context) => {
      const orderId = orderOf(event.data.source);
      if (orderId !== null) await fulfilOrder.fulfil(orderId, context);
    },
  };
}

/** Returns the order that is the source of a grant; null for any other source. */
function orderOf(source: GrantSource): string | null {
  return source === 'registration' || source === 'operator' ? null : source;
}
