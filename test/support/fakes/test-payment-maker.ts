import type { PlatformError } from '../../../src/areas/payments/platforms/payment-maker.js';
import {
  type MadePayment,
  type PaymentMaker,
  type PaymentRequest,
  type RefundRequest,
} from '../../../src/areas/payments/platforms/payment-maker.js';

/** A maker without a network. It makes one payment for each idempotency key. */
interface TestPaymentMaker extends PaymentMaker {
  readonly requests: readonly PaymentRequest[];
  /** The payments that were made. */
  readonly made: readonly MadePayment[];
  readonly refunds: readonly RefundRequest[];
  /** Lets the next call fail. */
  failNext(error: PlatformError): void;
}

export function makeTestPaymentMaker({ now }: { readonly now: () => Date }): TestPaymentMaker {
  const requests: PaymentRequest[] = [];
  const byKey = new Map<string, MadePayment>();
  const refunds: RefundRequest[] = [];
  const failures: PlatformError[] = [];
  return {
    refunds,
    refund: (request) => {
      const failure = failures.shift();
      if (failure !== undefined) return Promise.reject(failure);
      const known = refunds.findIndex(({ idempotencyKey }) => idempotencyKey === request.idempotencyKey);
      const number = known < 0 ? refunds.push(request) : known + 1;
      return Promise.resolve(`refund-${number}`);
    },
    requests,
    get made() {
      return [...byKey.values()];
    },
    failNext: (error) => failures.push(error),
    makePayment: async (request) => {
      requests.push(request);
      const failure = failures.shift();
      if (failure !== undefined) throw failure;
      const known = byKey.get(request.idempotencyKey);
      if (known !== undefined) return known;
      const made: MadePayment = {
        kind: 'form',
        url: `https://pay.example/${byKey.size + 1}`,
        fields: { order: request.orderNumber, back: request.returnUrl ?? '' },
        reference: `made-${byKey.size + 1}`,
        expiresAt: new Date(now().getTime() + 3_600_000),
      };
      byKey.set(request.idempotencyKey, made);
      // Other calls run before the caller can record the payment.
      await new Promise((resolve) => setImmediate(resolve));
      return made;
    },
  };
}
