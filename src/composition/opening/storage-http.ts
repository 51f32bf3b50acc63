import { randomUUID } from 'node:crypto';
import type { StorageDeps } from '../../areas/storages/deps.js';
import { makeAllowedAddresses } from '../../areas/storages/domain/bucket/bucket.js';
import type { Clock } from '../../kit/time/clock.js';
import { makeSetBucketCors } from '../../areas/storages/bucket/probing/bucket-cors.js';
import { makeDeleteObject } from '../../areas/storages/bucket/objects/call-bucket.js';
import { makeHeadObject, makeReadObject } from '../../areas/storages/bucket/objects/head-object.js';
import { makeListObjects } from '../../areas/storages/bucket/objects/list-objects.js';
import { makeMultipart } from '../../areas/storages/bucket/objects/multipart.js';
import { makeProbeBucket } from '../../areas/storages/bucket/probing/probe.js';
import { makeAllowedAddress } from '../../outgoing/addresses.js';
import { makeOutgoingHttp, type OutgoingHttp, type OutgoingOptions } from '../../outgoing/outgoing-http.js';

/**
 * Makes the guarded client of the calls to buckets (src/outgoing/README.md#the-guard).
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
  StorageDeps,
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
