import type { Config } from '../../config/config.js';
import type { PaymentProviderName } from '../../areas/payments/domain/payment.js';
import type { Clock } from '../../kit/time/clock.js';
import { makeAllowedAddress } from '../../outgoing/addresses.js';
import { makeOutgoingHttp, type OutgoingOptions } from '../../outgoing/outgoing-http.js';
import {
  makePaymentMakers,
  makePaymentProviders,
  type PaymentMakers,
  type PaymentProviders,
} from '../../areas/payments/platforms/configured.js';
import type { Log } from '../../log.js';

export interface PaymentOptions {
  /** The platforms that call back; by default those of the configuration. */
  readonly paymentProviders?: PaymentProviders;
  /** Platforms on this machine in place of the public ones, for tests. No setting can choose this. */
  readonly platforms?: OutgoingOptions & {
    readonly allowedCidrs: readonly string[];
    /** The time limit of a call; 5 s when left out. */
    readonly timeMs?: number;
    readonly urls: Partial<Readonly<Record<PaymentProviderName, string>>>;
  };
}

/** Makes the payment platforms that the configuration names: those that call back, and those that can be asked. */
export function openPayments(
  config: Pick<Config, 'payments'>,
  { paymentProviders, platforms }: PaymentOptions,
  { log: { logger }, clock }: { readonly log: Log; readonly clock: Clock },
): { readonly paymentProviders: PaymentProviders; readonly paymentMakers: PaymentMakers } {
  const { allowedCidrs = [], urls = {}, ...outgoing } = platforms ?? {};
  // The platforms have public hosts, so no private range is open here.
  const http = makeOutgoingHttp({ isAllowed: makeAllowedAddress(allowedCidrs), ...outgoing });
  const settings = config.payments();
  const report = (problem: string): void => {
    logger.error({ problem }, 'the keys of a payment platform were not read again');
  };
  return {
    paymentProviders: paymentProviders ?? makePaymentProviders(settings, { http, report }),
    paymentMakers: makePaymentMakers(settings, {
      http,
      report,
      urls,
      now: () => clock.now(),
      sleep: (ms) => clock.sleep(ms),
    }),
  };
}
