import type { z } from 'zod';
import type { paymentPlatform } from './resources.js';
import type { PaymentDeps } from '../deps.js';
import { rejectUseCase } from '../../shared/rejections.js';
import { PlatformError } from '../domain/platform-error.js';
import { paymentProvider, type PaymentProviderName, platformTerms } from '../domain/payment.js';

/** Returns the platforms that are set up, and how a buyer pays an order with each. */
export function listPaymentPlatforms(deps: PaymentDeps): z.output<typeof paymentPlatform>[] {
  const { paymentProviders, paymentMakers } = deps;
  return paymentProvider.options
    .filter((provider) => paymentProviders.has(provider))
    .map((provider) => ({
      provider,
      ways: [
        ...(paymentMakers.has(provider) ? [{ kind: 'pay' } as const] : []),
        { kind: 'order_number', fields: [...platformTerms(provider).number_fields] },
      ],
    }));
}

/**
 * Asks a payment platform, and turns its failure into a rejection. The operators read the platform's code in the log.
 * @param work what the platform is asked for, such as `make a payment`
 * @throws CommandRejected payment_refused, platform_unavailable
 */
export async function askPlatform<Result>(
  { provider, work }: { readonly provider: PaymentProviderName; readonly work: string },
  ask: () => Promise<Result>,
  onFailure: PaymentDeps['onFailure'],
): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error;
    onFailure(`${provider} did not ${work}: ${error.failure}, ${error.code ?? 'no code'}`, error);
    if (error.failure !== 'refused') {
      return rejectUseCase(
        'platform_unavailable',
        `${provider} did not answer, or reported an error; try again`,
      );
    }
    const why = error.code === null ? '' : ` (${error.code})`;
    return rejectUseCase('payment_refused', `${provider} refused to ${work}${why}`);
  }
}
