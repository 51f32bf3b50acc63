import { makeAllowedAddresses } from '../domain/storage/allowed-addresses.js';
import { makeAllowedAddress } from '../integrations/outgoing/allowed-address.js';
import {
  makeOutgoingHttp,
  type OutgoingHttp,
  type OutgoingOptions,
} from '../integrations/outgoing/outgoing-http.js';

/**
 * Makes the client of storage tests (docs/design.md#outgoing-connections).
 * @param allowedCidrs `STORAGE_ALLOWED_CIDRS`: the private addresses to open, and the only ones to use without TLS
 */
export function makeStorageHttp(
  allowedCidrs: readonly string[],
  options: OutgoingOptions | undefined,
): OutgoingHttp {
  return makeOutgoingHttp({
    isAllowed: makeAllowedAddress(allowedCidrs),
    isAllowedPlain: makeAllowedAddresses(allowedCidrs),
    ...options,
  });
}
