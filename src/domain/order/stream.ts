/** Streams `order-<order id>`. */
export const orderCategory = 'order';
