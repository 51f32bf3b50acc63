import type { PayPalApi } from '../paypal/paypal-client.js';
import type { PaymentVariableName } from './payment-variables.js';

/** Reads of one variable. `problem` records that it is wrong, and returns null. */
export interface SettingReads {
  readonly read: (name: PaymentVariableName) => string | undefined;
  readonly problem: (name: PaymentVariableName, text: string) => null;
}

/** The credentials with which the service makes payments and refunds; null: it makes none at the platform. */
export interface StripeApi {
  readonly secretKey: string;
}

/** Reads the secret or restricted key of Stripe's API, whose mode must be the one of `PAYMENT_STRIPE_LIVEMODE`. */
export function readStripeApi(
  { read, problem }: SettingReads,
  livemode: boolean | undefined,
): StripeApi | null {
  const secretKey = read('PAYMENT_STRIPE_SECRET_KEY')?.trim();
  if (secretKey === undefined) return null;
  const [, mode] = /^[rs]k_(live|test)_[0-9A-Za-z]{16,250}$/.exec(secretKey) ?? [];
  if (mode === undefined) return problem('PAYMENT_STRIPE_SECRET_KEY', 'must be a secret key (sk_… or rk_…)');
  if (livemode !== undefined && livemode !== (mode === 'live')) {
    return problem('PAYMENT_STRIPE_SECRET_KEY', 'is of the other mode than PAYMENT_STRIPE_LIVEMODE');
  }
  return { secretKey };
}

/** Reads the credentials of the app, of which PayPal's webhook is one. */
export function readPayPalApi({ read, problem }: SettingReads): PayPalApi | null {
  const clientId = read('PAYMENT_PAYPAL_CLIENT_ID')?.trim();
  const clientSecret = read('PAYMENT_PAYPAL_CLIENT_SECRET')?.trim();
  if (clientId === undefined && clientSecret === undefined) return null;
  // A colon would end the id in the header of the request for a token.
  const shape = /^[0-9A-Za-z_-]{16,128}$/;
  if (!shape.test(clientId ?? ''))
    return problem('PAYMENT_PAYPAL_CLIENT_ID', 'must be the client id of the app');
  if (!shape.test(clientSecret ?? ''))
    return problem('PAYMENT_PAYPAL_CLIENT_SECRET', 'must be the secret of the app');
  return { clientId: clientId ?? '', clientSecret: clientSecret ?? '' };
}
