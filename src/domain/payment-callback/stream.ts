/** Streams `payment-<provider>-<SHA-256 of the callback's key>`. */
export const paymentCallbackCategory = 'payment';
