import { randomUUID } from 'node:crypto';
import type { Deps } from '../commands/deps.js';
import { makeAllowedAddresses } from '../domain/storage/allowed-addresses.js';
import type { Clock } from '../event-sourcing/ports/clock.js';
import { makeSetBucketCors } from '../integrations/object-storage/bucket-cors.js';
import { makeDeleteObject } from '../integrations/object-storage/delete-object.js';
import { makeHeadObject } from '../integrations/object-storage/head-object.js';
import { makeListObjects } from '../integrations/object-storage/list-objects.js';
import { makeMultipart } from '../integrations/object-storage/multipart.js';
import { makeProbeBucket } from '../integrations/object-storage/probe.js';
import { makeReadObject } from '../integrations/object-storage/read-object.js';
import { makeAllowedAddress } from '../integrations/outgoing/allowed-address.js';
import {
  makeOutgoingHttp,
  type OutgoingHttp,
  type OutgoingOptions,
} from '../integrations/outgoing/outgoing-http.js';

/**
 * Makes the guarded client of the calls to buckets (docs/design.md#outgoing-connections).
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

/** Makes the calls to buckets, which share one client. */
export function makeStorageCalls(
  allowedCidrs: readonly string[],
  options: OutgoingOptions | undefined,
  clock: Pick<Clock, 'now'>,
): Pick<
  Deps,
  'probe' | 'setBucketCors' | 'headObject' | 'deleteObject' | 'listObjects' | 'readObject' | 'multipart'
> {
  const http = makeStorageHttp(allowedCidrs, options);
  const now = () => clock.now();
  return {
    probe: makeProbeBucket({ http, now, makeId: randomUUID }),
    setBucketCors: makeSetBucketCors({ http, now }),
    headObject: makeHeadObject({ http, now }),
    deleteObject: makeDeleteObject({ http, now }),
    listObjects: makeListObjects({ http, now }),
    readObject: makeReadObject({ http, now }),
    multipart: makeMultipart({ http, now }),
  };
}
