import type { PaymentDeps } from '../deps.js';
import { makeAcceptCallback } from './callbacks/accept-callback.js';
import { makeAcceptNews } from './callbacks/accept-news.js';
import { makeCancelOrder } from './orders/cancel-order.js';
import { makeCapturePayment } from './orders/capture-payment.js';
import { makeDismissUnmatched } from './reviews/dismiss-unmatched.js';
import { makeFulfilOrder } from './orders/fulfil-order.js';
import { makeOrderLimit } from './order-limit.js';
import { type CallbackNotices, makeReceivePaymentCallback } from './callbacks/receive-payment-callback.js';
import { makeFindPayments } from './callbacks/find-payments.js';
import { makeCheckReturnUrl, makePayOrder } from './orders/pay-order.js';
import { listPaymentPlatforms } from './platforms.js';
import { makeReconcileDaily } from './reconcile-daily.js';
import { makeReconcilePayments } from './reconciling.js';
import { makeRecordPayment } from './reviews/record-payment.js';
import { makeRefundOrder } from './orders/refund-order.js';
import { makeResolvePayment } from './reviews/resolve-payment.js';
import { makePaymentReports } from './callbacks/payment-reports.js';
import { makeCheckOrder, makePlaceOrder } from './orders/place-order.js';

export type PaymentCommands = ReturnType<typeof makeOrderCommands>;

export function makeOrderCommands(deps: CallbackNotices & PaymentDeps) {
  const paymentReports = makePaymentReports(deps);
  const resolvePayment = makeResolvePayment({ ...deps, paymentReports });
  const acceptCallback = makeAcceptCallback({ ...deps, underWay: paymentReports.underWay });
  const acceptNews = makeAcceptNews({ ...deps, acceptCallback });
  const reconcilePayments = makeReconcilePayments({ ...deps, acceptNews });
  return {
    paymentReports,
    resolvePayment,
    recordPayment: makeRecordPayment({ ...deps, paymentReports }),
    findPayments: makeFindPayments(deps),
    dismissUnmatched: makeDismissUnmatched({ ...deps, resolvePayment }),
    receivePaymentCallback: makeReceivePaymentCallback({ ...deps, acceptCallback }),
    paymentPlatforms: () => listPaymentPlatforms(deps),
    checkOrder: makeCheckOrder(deps),
    placeOrder: makePlaceOrder({ ...deps, limit: makeOrderLimit(deps) }),
    checkReturnUrl: makeCheckReturnUrl(deps),
    payOrder: makePayOrder(deps),
    capturePayment: makeCapturePayment(deps),
    refundOrder: makeRefundOrder(deps),
    reconcilePayments,
    reconcileDaily: makeReconcileDaily({ ...deps, reconcilePayments }),
    fulfilOrder: makeFulfilOrder(deps),
    cancelOrder: makeCancelOrder(deps),
  };
}
