import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { type PaymentProviderName, platformTerms } from '../../domain/payment.js';
import type { Acknowledgement, PaymentCallback } from '../../platforms/payment-provider.js';
import type { PaymentDeps } from '../../deps.js';
import type { AcceptCallback, AcceptNotices } from './accept-callback.js';
import { makeCallbackTurns } from './callback-turns.js';

export type CallbackOutcome =
  /** The platform need not send it again. */
  | { readonly kind: 'acknowledged'; readonly acknowledgement: Acknowledgement }
  /** It changes nothing: a buyer's return page, or a GET without a meaning. */
  | { readonly kind: 'shown' }
  | { readonly kind: 'not_configured' }
  /** The signature is not valid. The service read and wrote nothing. */
  | { readonly kind: 'refused' }
  /** It cannot be verified now; the platform sends it again. */
  | { readonly kind: 'unavailable' };

/**
 * Accepts a callback of a payment platform (src/areas/payments/README.md#callbacks): verifies it, makes its acceptance durable and
 * settles it. If the settlement of a new callback fails or exceeds its time, a reaction does it.
 * @throws StoreUnavailable, Overloaded: the platform must send it again
 */
export interface ReceivePaymentCallback {
  (
    input: {
      readonly name: PaymentProviderName;
      readonly callback: PaymentCallback;
      /** The sender: its address, or the network of it. */
      readonly client: string;
    },
    context: CommandContext,
  ): Promise<CallbackOutcome>;
}

/** Reports callbacks to the operators. */
export interface CallbackNotices extends AcceptNotices {
  /** Reports a refused or unverifiable callback. @param reason the problem */
  readonly onRefused: (provider: PaymentProviderName, reason: string) => void;
}

export function makeReceivePaymentCallback({
  paymentProviders,
  acceptCallback,
  onRefused,
  clock,
}: Pick<CallbackNotices, 'onRefused'> &
  Pick<PaymentDeps, 'paymentProviders' | 'clock'> & {
    readonly acceptCallback: AcceptCallback;
  }): ReceivePaymentCallback {
  const turns = makeCallbackTurns({ clock });
  return async ({ name, callback, client }, context) => {
    const provider = paymentProviders.get(name);
    if (callback.method === 'GET' && (callback.query === '' || platformTerms(name).get === undefined)) {
      return { kind: 'shown' };
    }
    if (provider === undefined) return { kind: 'not_configured' };
    const bytes = callback.body.length + callback.query.length;
    await turns.wait(client, bytes);
    const verification = await provider.verify(callback);
    switch (verification.kind) {
      case 'refused':
        turns.refused(client, bytes);
        onRefused(name, verification.reason);
        return { kind: 'refused' };
      case 'unavailable':
        onRefused(name, verification.problem);
        return { kind: 'unavailable' };
      case 'verified':
        if (callback.method === 'GET' && provider.get === 'shows') return { kind: 'shown' };
        await acceptCallback(name, verification.callback, callback.receivedAt, context);
        return { kind: 'acknowledged', acknowledgement: provider.acknowledgement };
    }
  };
}
