import type { Deps } from '../deps.js';
import { makeCancelOrder } from './cancel-order.js';
import { makeDismissUnmatched } from './dismiss-unmatched.js';
import { makeFulfilOrder } from './fulfil-order.js';
import { makeOrderPlaces } from '../shared/place-limits.js';
import { type CallbackNotices, makeReceivePaymentCallback } from './receive-payment-callback.js';
import { makeFindPayments } from './find-payments.js';
import { makeCheckReturnUrl, makePayOrder } from './pay-order.js';
import { listPaymentPlatforms } from './payment-platforms.js';
import { makeRecordPayment } from './record-payment.js';
import { makeRefundOrder } from './refund-order.js';
import { makeResolvePayment } from './resolve-payment.js';
import { makeSettlePayment } from './settle-payment.js';
import { makeCheckOrder, makePlaceOrder } from './place-order.js';

export function makeOrderCommands(deps: CallbackNotices & Deps) {
  const settlePayment = makeSettlePayment(deps);
  const resolvePayment = makeResolvePayment({ ...deps, settlePayment });
  return {
    settlePayment,
    resolvePayment,
    recordPayment: makeRecordPayment({ ...deps, settlePayment }),
    findPayments: makeFindPayments(deps),
    dismissUnmatched: makeDismissUnmatched({ ...deps, resolvePayment }),
    receivePaymentCallback: makeReceivePaymentCallback({ ...deps, settlePayment }),
    paymentPlatforms: () => listPaymentPlatforms(deps),
    checkOrder: makeCheckOrder(deps),
    placeOrder: makePlaceOrder({ ...deps, places: makeOrderPlaces(deps) }),
    checkReturnUrl: makeCheckReturnUrl(deps),
    payOrder: makePayOrder(deps),
    refundOrder: makeRefundOrder(deps),
    fulfilOrder: makeFulfilOrder(deps),
    cancelOrder: makeCancelOrder(deps),
  };
}
