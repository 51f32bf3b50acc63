import type { PaymentProviderName } from '../../domain/payment.js';
import { PlatformError } from '../../domain/platform-error.js';
import type { PaymentDeps } from '../../deps.js';
import { rejectUseCase } from '../../../shared/rejections.js';

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
