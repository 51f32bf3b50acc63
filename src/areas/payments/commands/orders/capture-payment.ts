import { hash } from 'node:crypto';
import { checkoutAggregate, type Approval, isCaptureDue } from '../../domain/checkout/checkout.js';
import { canTakeMoney, orderAggregate } from '../../domain/order/order.js';
import { PlatformError } from '../../domain/platform-error.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import { userAggregate } from '../../../accounts/domain/user/user.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { PaymentDeps } from '../../deps.js';

/** What became of a capture. A refused one moves no money. `code`: the platform's. */
export type CaptureOutcome =
  { readonly kind: 'accepted' } | { readonly kind: 'refused'; readonly code: string | null };

/**
 * Takes the money of a payment that its buyer approved (src/areas/payments/platforms/README.md#captures). The platform's callback reports the
 * money, so this changes nothing of the order.
 */
export interface CapturePayment {
  /** Says whether an approval of an order waits for its capture, and the order for its money. */
  isDue(orderId: string, approval: string): Promise<boolean>;
  /** Asks the platform; a repetition takes the money once. @throws PlatformError unavailable, outcome_unknown */
  capture(approved: Omit<Approval, 'outcome'>): Promise<CaptureOutcome>;
  finish(
    of: { readonly orderId: string; readonly approval: string },
    outcome: CaptureOutcome,
    context: CommandContext,
  ): Promise<void>;
}

export function makeCapturePayment({
  handler,
  clock,
  paymentMakers,
  onFailure,
}: Pick<PaymentDeps, 'handler' | 'clock' | 'paymentMakers' | 'onFailure'>): CapturePayment {
  return {
    isDue: async (orderId, approval) => {
      const { state } = await handler.load(checkoutAggregate, orderId);
      return isCaptureDue(state, approval) && needsMoney(orderId);
    },
    capture: async ({ provider, reference, approval }) => {
      const ask = paymentMakers.get(provider)?.capture;
      // The settings may come back before the order expires.
      if (ask === undefined) throw new PlatformError('unavailable', 'no_credentials');
      // The buyer may approve again after a refusal, and the platform would repeat its reply to a known key.
      const idempotencyKey = hash('sha256', JSON.stringify(['capture', reference, approval]));
      try {
        await ask({ reference, idempotencyKey });
        return { kind: 'accepted' };
      } catch (error) {
        if (!(error instanceof PlatformError) || error.failure !== 'refused') throw error;
        onFailure(`${provider} did not capture an approved payment: ${error.code ?? 'no code'}`, error);
        return { kind: 'refused', code: error.code };
      }
    },
    finish: async ({ orderId, approval }, outcome, context) => {
      await handler.handle(
        { aggregate: checkoutAggregate, id: orderId },
        outcome.kind === 'accepted'
          ? { type: 'AcceptCapture', approval }
          : { type: 'RefuseCapture', approval, code: outcome.code },
        context,
      );
    },
  };

  /** Money for an order that is over, or whose recipient is gone, would buy nothing. */
  async function needsMoney(orderId: string): Promise<boolean> {
    const { state: order } = await handler.load(orderAggregate, orderId);
    if (order.status === 'absent' || !canTakeMoney(order, clock.now())) return false;
    const { state: buyer } = await handler.load(userAggregate, order.userId);
    if (buyer.status !== 'registered') return false;
    if (order.projectId === null) return true;
    return (await handler.load(projectAggregate, order.projectId)).state.status === 'existing';
  }
}
