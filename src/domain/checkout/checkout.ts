import type { Aggregate } from '../../event-sourcing/deciding/decider.js';
import { checkoutCategory, checkoutCodec, type CheckoutEvent } from './events.js';

/** A payment that the platform made. */
export type MadePaymentData = Extract<CheckoutEvent, { type: 'PaymentMade' }>['data'];

/** What the service asked the platform of one order to do. */
export interface CheckoutState {
  /** The latest payment; null while none was made. */
  readonly payment: MadePaymentData | null;
}

export type CheckoutCommand = {
  readonly type: 'RecordPayment';
  readonly payment: MadePaymentData;
  readonly now: Date;
};

const initialState: CheckoutState = { payment: null };

function evolve(_state: CheckoutState, event: CheckoutEvent): CheckoutState {
  return { payment: event.data };
}

/** A payment that the buyer can still pay stays the order's one: another that was made beside it is shown to no one. */
function decide({ payment, now }: CheckoutCommand, state: CheckoutState): readonly CheckoutEvent[] {
  return payablePayment(state, now) === null ? [{ type: 'PaymentMade', data: payment }] : [];
}

/** Returns the payment that the buyer can pay now, or null. */
export function payablePayment({ payment }: CheckoutState, now: Date): MadePaymentData | null {
  return payment !== null && new Date(payment.expires_at) > now ? payment : null;
}

export const checkoutAggregate: Aggregate<CheckoutState, CheckoutCommand, CheckoutEvent> = {
  category: checkoutCategory,
  codec: checkoutCodec,
  decider: { initialState, decide, evolve },
};
