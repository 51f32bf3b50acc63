/** Streams `email-<keyed digest of the address>`, so that the log holds no address. */
export const emailCategory = 'email';
