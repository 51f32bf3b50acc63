import type { PaymentDeps } from '../deps.js';
import {
  type CallbackNotices,
  makeAcceptCallback,
  makeReceivePaymentCallback,
} from './callbacks/callbacks.js';
import { makeAcceptNews } from './callbacks/news.js';
import {
  checkCapacityGrants,
  checkEntitlementGrants,
  fulfilOrders,
  makeFulfilling,
} from './buying/fulfilling.js';
import { captureApprovedPayments, makePaying } from './buying/paying.js';
import { expireOrders, makePlacing } from './buying/placing.js';
import { listPaymentPlatforms } from './platforms.js';
import { makeReconcileDaily } from './callbacks/reconcile-daily.js';
import { makeReconciling } from './callbacks/reconciling.js';
import { makeRecording } from './deciding/recording.js';
import { askForRefunds, makeRefunding } from './deciding/refunding.js';
import { applyReports, makePaymentReports } from './callbacks/reports.js';
import { makeDismissing, makeResolving } from './deciding/resolving.js';

export type PaymentCommands = ReturnType<typeof makeOrderCommands>;

export function makeOrderCommands(deps: CallbackNotices & PaymentDeps) {
  const fulfilOrder = makeFulfilling(deps);
  const paymentReports = makePaymentReports(deps);
  const { resolvePayment } = makeResolving({ ...deps, paymentReports });
  const acceptCallback = makeAcceptCallback({ ...deps, underWay: paymentReports.underWay });
  const acceptNews = makeAcceptNews({ ...deps, acceptCallback });
  const { reconcilePayments, reconcileRefund } = makeReconciling({ ...deps, acceptNews });
  return {
    paymentReports,
    resolvePayment,
    ...makeDismissing({ ...deps, resolvePayment }),
    ...makeRecording({ ...deps, paymentReports }),
    receivePaymentCallback: makeReceivePaymentCallback({ ...deps, acceptCallback }),
    paymentPlatforms: () => listPaymentPlatforms(deps),
    ...makePlacing(deps),
    ...makePaying(deps),
    ...makeRefunding(deps),
    reconcilePayments,
    reconcileDaily: makeReconcileDaily({ ...deps, reconcilePayments }),
    fulfilOrder,
    paymentReactions: {
      expireOrders: expireOrders(deps),
      askForRefunds: askForRefunds({ ...deps, reconcileRefund }),
      applyReports: applyReports(paymentReports),
      captureApprovedPayments: captureApprovedPayments(deps),
      fulfilOrders: fulfilOrders(fulfilOrder),
      checkCapacityGrants: checkCapacityGrants(fulfilOrder),
      checkEntitlementGrants: checkEntitlementGrants(fulfilOrder),
    },
  };
}
