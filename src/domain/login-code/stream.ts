/** Streams `logincode-<keyed digest of the address>`. */
export const loginCodeCategory = 'logincode';
