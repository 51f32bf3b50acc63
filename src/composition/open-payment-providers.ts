import type { Config } from '../config.js';
import { makeAllowedAddress } from '../integrations/outgoing/allowed-address.js';
import { makeOutgoingHttp } from '../integrations/outgoing/outgoing-http.js';
import { makePaymentProviders, type PaymentProviders } from '../integrations/payments/payment-providers.js';
import type { Log } from '../log.js';

/** Makes the payment platforms that the configuration names. */
export function openPaymentProviders(config: Pick<Config, 'payments'>, { logger }: Log): PaymentProviders {
  return makePaymentProviders(config.payments(), {
    // PayPal serves its certificates from public hosts, so no private range is open here.
    http: makeOutgoingHttp({ isAllowed: makeAllowedAddress([]) }),
    report: (problem) => {
      logger.error({ problem }, 'the keys of a payment platform were not read again');
    },
  });
}
