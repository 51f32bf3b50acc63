import type { AccountTries } from '../../../src/areas/accounts/commands/signing-in/account-tries.js';
import type { KnownNetworks } from '../../../src/security/guessing/known-networks.js';

/** Remembers nothing: every client is a known one. For worlds without a state store. */
export const everyNetworkKnown: KnownNetworks = {
  requesterOf: () => Promise.resolve({ requester: 'known', network: '' }),
  remember: () => Promise.resolve(),
  rememberOnly: () => Promise.resolve(),
  forget: () => Promise.resolve(),
};

/** Counts nothing in a day. */
export const unboundedTries: AccountTries = {
  run: async (_of, check, _context, around) => {
    if (around !== undefined) return around(() => check('known'));
    const value = await check('known');
    return value === null ? { outcome: 'failed' } : { outcome: 'passed', value };
  },
};
