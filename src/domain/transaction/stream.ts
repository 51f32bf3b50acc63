/** Streams `transaction-<provider>-<SHA-256 of the platform's id>`. */
export const transactionCategory = 'transaction';
