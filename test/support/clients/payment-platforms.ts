import { paymentProvider, type PaymentProviderName } from '../../../src/areas/payments/domain/payment.js';
import type { PaymentProvider } from '../../../src/areas/payments/platforms/payment-provider.js';
import type { SigningPlatform } from '../../areas/payments/platforms/vectors/under-test.js';
import { rsaKeys } from '../fakes/rsa-keys.js';
import { platformUnderTest, providerOf } from '../../areas/payments/platforms/vectors/vectors.js';

export type { ToldPayment } from '../../areas/payments/platforms/vectors/under-test.js';

/** A platform: its provider, which verifies messages, and its messages. */
export interface PaymentPlatform extends SigningPlatform {
  readonly provider: PaymentProvider;
}

/** Makes all platforms with separate keys, derived from the name. */
export async function makePaymentPlatforms(
  name: Parameters<typeof rsaKeys>[0],
): Promise<Readonly<Record<PaymentProviderName, PaymentPlatform>>> {
  const keys = rsaKeys(name);
  const made = paymentProvider.options.map(async (platform) => {
    const signing = (await platformUnderTest(platform)).sign(name, keys);
    return [platform, { ...signing, provider: providerOf(platform, signing.verify) }] as const;
  });
  return Object.fromEntries(await Promise.all(made)) as Readonly<
    Record<PaymentProviderName, PaymentPlatform>
  >;
}
