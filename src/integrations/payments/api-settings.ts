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
