import { makeCancelOrder } from '../commands/cancel-order.js';
import { makeDismissUnmatched } from '../commands/dismiss-unmatched.js';
import { makeExpireOrder } from '../commands/expire-order.js';
import { makeFulfilOrder } from '../commands/fulfil-order.js';
import { makeOrderPlaces } from '../commands/order-places.js';
import { type CallbackNotices, makeReceivePaymentCallback } from '../commands/receive-payment-callback.js';
import type { PaymentProviders } from '../integrations/payments/payment-providers.js';
import { makeResolvePayment } from '../commands/resolve-payment.js';
import { makeSettlePayment } from '../commands/settle-payment.js';
import { makePlaceOrder } from '../commands/place-order.js';
import type { Plan } from '../domain/order/plans.js';
import type { Clock } from '../event-sourcing/clock.js';
import type { CommandHandler } from '../event-sourcing/command-handler.js';
import type { StateStore } from '../event-sourcing/state-store.js';
import type { Digests } from '../keys/digests.js';
import type { Sealer } from '../keys/sealer.js';
import type { Readers } from './readers.js';

/** Puts together what is done with orders. */
export function makeOrderCommands(
  deps: CallbackNotices & {
    readonly providers: PaymentProviders;
    readonly plans: readonly Plan[];
    readonly clock: Clock;
    readonly handler: CommandHandler;
    readonly stateStore: StateStore;
    readonly sealer: Pick<Sealer, 'seal'>;
    readonly digests: Pick<Digests, 'of'>;
    readonly readers: Pick<Readers, 'projects' | 'orders' | 'paymentCallbacks'>;
  },
) {
  const { projects, orders, paymentCallbacks } = deps.readers;
  const settlePayment = makeSettlePayment(deps);
  const resolvePayment = makeResolvePayment({ ...deps, settlePayment });
  return {
    settlePayment,
    resolvePayment,
    dismissUnmatched: makeDismissUnmatched({ resolvePayment, paymentCallbacks }),
    receivePaymentCallback: makeReceivePaymentCallback({ ...deps, settlePayment }),
    placeOrder: makePlaceOrder({ ...deps, projects, orders, places: makeOrderPlaces({ ...deps, orders }) }),
    fulfilOrder: makeFulfilOrder(deps),
    cancelOrder: makeCancelOrder({ ...deps, orders }),
    expireOrder: makeExpireOrder(deps),
  };
}
