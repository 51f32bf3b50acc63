import type { Deps } from '../deps.js';
import { makeAcceptCallback } from './accept-callback.js';
import { makeAcceptNews } from './accept-news.js';
import { makeCancelOrder } from './cancel-order.js';
import { makeCapturePayment } from './capture-payment.js';
import { makeDismissUnmatched } from './dismiss-unmatched.js';
import { makeFulfilOrder } from './fulfil-order.js';
import { makeOrderPlaces } from '../shared/place-limits.js';
import { type CallbackNotices, makeReceivePaymentCallback } from './receive-payment-callback.js';
import { makeFindPayments } from './find-payments.js';
import { makeCheckReturnUrl, makePayOrder } from './pay-order.js';
import { listPaymentPlatforms } from './payment-platforms.js';
import { makePassOnCallback } from './pass-on-callback.js';
import { makeReconcileDaily } from './reconcile-daily.js';
import { makeReconcileOrders } from './reconcile-orders.js';
import { makeReconcilePayments } from './reconcile-payments.js';
import { makeReconcileReports } from './reconcile-reports.js';
import { makeRecordPayment } from './record-payment.js';
import { makeRefundOrder } from './refund-order.js';
import { makeResolvePayment } from './resolve-payment.js';
import { makeSettlePayment } from './settle-payment.js';
import { makeCheckOrder, makePlaceOrder } from './place-order.js';

export function makeOrderCommands(deps: CallbackNotices & Deps) {
  const settlePayment = makeSettlePayment(deps);
  const passOnCallback = makePassOnCallback({ ...deps, settlePayment });
  const resolvePayment = makeResolvePayment({ ...deps, settlePayment });
  const acceptCallback = makeAcceptCallback(deps);
  const acceptNews = makeAcceptNews({ ...deps, acceptCallback });
  const reconcilePayments = makeReconcilePayments({
    ...deps,
    reconcileOrders: makeReconcileOrders({ ...deps, acceptNews }),
    reconcileReports: makeReconcileReports({ ...deps, acceptNews }),
  });
  return {
    settlePayment,
    passOnCallback,
    resolvePayment,
    recordPayment: makeRecordPayment({ ...deps, passOnCallback }),
    findPayments: makeFindPayments(deps),
    dismissUnmatched: makeDismissUnmatched({ ...deps, resolvePayment }),
    receivePaymentCallback: makeReceivePaymentCallback({ ...deps, acceptCallback }),
    paymentPlatforms: () => listPaymentPlatforms(deps),
    checkOrder: makeCheckOrder(deps),
    placeOrder: makePlaceOrder({ ...deps, places: makeOrderPlaces(deps) }),
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
