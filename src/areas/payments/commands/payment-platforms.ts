import type { PaymentDeps } from '../deps.js';
import { paymentProvider, type PaymentProviderName } from '../domain/payment.js';

/** A way to pay an order. More kinds may follow. */
export type PaymentWay =
  /** The service makes the payment at the platform: `POST /orders/{id}/pay`. */
  | { readonly kind: 'pay' }
  | {
      /** The shop creates the payment at the platform, and gives it the order's number. */
      readonly kind: 'order_number';
      /** The fields of the platform that may carry the number, the usual one first. */
      readonly fields: readonly string[];
    };

/** A platform that is set up. */
export interface PaymentPlatform {
  readonly provider: PaymentProviderName;
  readonly ways: readonly PaymentWay[];
}

/** The fields that verification reads the number from: `src/integrations/payments/`. */
const numberFields: Readonly<Record<PaymentProviderName, readonly string[]>> = {
  stripe: ['client_reference_id', 'metadata.order_id'],
  wechatpay: ['out_trade_no'],
  alipay: ['out_trade_no'],
  paypal: ['custom_id', 'invoice_id'],
  standard: ['data.order_number'],
  epay: ['out_trade_no'],
};

/** Returns the platforms that are set up, and how a buyer pays an order with each. */
export function listPaymentPlatforms({
  paymentProviders,
  paymentMakers,
}: Pick<PaymentDeps, 'paymentProviders' | 'paymentMakers'>): readonly PaymentPlatform[] {
  return paymentProvider.options
    .filter((provider) => paymentProviders.has(provider))
    .map((provider) => ({
      provider,
      ways: [
        ...(paymentMakers.has(provider) ? [{ kind: 'pay' } as const] : []),
        { kind: 'order_number', fields: numberFields[provider] },
      ],
    }));
}
