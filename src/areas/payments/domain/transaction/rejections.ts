import { CommandRejected } from '../../../../event-sourcing/ports/errors.js';

const messages = {
  payment_callback_not_found: 'there is no such payment',
  payment_callback_not_held: 'nothing of this payment waits for a decision',
  payment_callback_resolved: 'another decision on this payment stands',
  payment_callback_unreadable: 'what the platform says cannot be read; dismiss it',
  payment_callback_full: 'no more reports are kept of it; dismiss it, or record the payment',
  transaction_of_another_order: 'the transaction has paid another order',
  transaction_full: 'too much was reported of this transaction already',
};
export type PaymentRejection = keyof typeof messages;

export function rejectPayment(code: PaymentRejection, message: string = messages[code]): never {
  throw new CommandRejected<PaymentRejection>(code, message);
}
