import { CommandRejected } from '../../event-sourcing/errors.js';

/** `payment_callback_not_found`: no callback was accepted under this name. */
export type PaymentCallbackRejection = 'payment_callback_not_found';

export function rejectPaymentCallback(code: PaymentCallbackRejection, message: string): never {
  throw new CommandRejected<PaymentCallbackRejection>(code, message);
}
