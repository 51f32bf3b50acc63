import type { PaymentProvider } from '../../integrations/payments/payment-provider.js';
import type { Deps } from '../deps.js';
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
import { type AcceptReport, makeReconcilePayments } from './reconcile-payments.js';
import { makeRecordPayment } from './record-payment.js';
import { makeRefundOrder } from './refund-order.js';
import { makeResolvePayment } from './resolve-payment.js';
import { makeSettlePayment } from './settle-payment.js';
import { makeCheckOrder, makePlaceOrder } from './place-order.js';

export function makeOrderCommands(deps: CallbackNotices & Deps) {
  const settlePayment = makeSettlePayment(deps);
  const passOnCallback = makePassOnCallback({ ...deps, settlePayment });
  const resolvePayment = makeResolvePayment({ ...deps, settlePayment });
  const reconcilePayments = makeReconcilePayments({ ...deps, acceptReport });
  return {
    settlePayment,
    passOnCallback,
    resolvePayment,
    recordPayment: makeRecordPayment({ ...deps, settlePayment, passOnCallback }),
    findPayments: makeFindPayments(deps),
    dismissUnmatched: makeDismissUnmatched({ ...deps, resolvePayment }),
    receivePaymentCallback: makeReceivePaymentCallback({ ...deps, settlePayment, passOnCallback }),
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

  /** The path of callbacks, for a report that is verified already. */
  async function acceptReport(...[name, report, context]: Parameters<AcceptReport>): Promise<void> {
    const provider: PaymentProvider = {
      verify: () => Promise.resolve({ kind: 'verified', callback: report }),
      acknowledgement: { contentType: 'text/plain', body: '' },
    };
    const paymentProviders = new Map([[name, provider]]);
    const receive = makeReceivePaymentCallback({ ...deps, settlePayment, passOnCallback, paymentProviders });
    const callback = {
      method: 'POST',
      headers: {},
      body: Buffer.alloc(0),
      query: '',
      receivedAt: context.time,
    } as const;
    await receive({ name, callback }, context);
  }
}
