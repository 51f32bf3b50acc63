import { generateKeyPairSync } from 'node:crypto';
import { paymentProvider, type PaymentProviderName } from '../../../src/areas/payments/domain/payment.js';
import type { PaymentProvider } from '../../../src/areas/payments/platforms/payment-provider.js';
import type { SigningPlatform } from '../../areas/payments/platforms/vectors/under-test.js';
import { platformUnderTest, providerOf } from '../../areas/payments/platforms/vectors/vectors.js';

export type { ToldPayment } from '../../areas/payments/platforms/vectors/under-test.js';

/** A platform: its provider, which verifies messages, and its messages. */
export interface PaymentPlatform extends SigningPlatform {
  readonly provider: PaymentProvider;
}

/** Makes all platforms with separate keys, derived from the name. */
export async function makePaymentPlatforms(
  name: string,
): Promise<Readonly<Record<PaymentProviderName, PaymentPlatform>>> {
  // The platforms share one key pair, because making it takes longer than all other steps.
  const keys = generateKeyPairSync('rsa', { modulusLength: 2_048 });
  const made = paymentProvider.options.map(async (platform) => {
    const signing = (await platformUnderTest(platform)).sign(name, keys);
    return [platform, { ...signing, provider: providerOf(platform, signing.verify) }] as const;
  });
  return Object.fromEntries(await Promise.all(made)) as Readonly<
    Record<PaymentProviderName, PaymentPlatform>
  >;
}
