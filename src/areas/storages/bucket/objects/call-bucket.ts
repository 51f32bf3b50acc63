import {
  forAccount,
  OutgoingError,
  type OutgoingHttp,
  type OutgoingReply,
  type OutgoingRequest,
} from '../../../../outgoing/outgoing-http.js';
import type { StorageUrls } from '../signing/media-urls.js';
import type { HeaderRequest } from '../signing/signer.js';

/** What requests of this service to buckets need. */
export interface BucketCalls {
  readonly http: OutgoingHttp;
  readonly now: () => Date;
}

/** What is not signed, because proxies change it, and the limits of the call. */
export type CallLimits = Partial<Pick<OutgoingRequest, 'headers' | 'body' | 'bodyBytesMax' | 'timeMs'>> & {
  readonly signal?: AbortSignal | undefined;
};

export type BucketUrls = Pick<StorageUrls, 'bucket' | 'account'>;

/**
 * Signs a request and sends it to the bucket, within the time of the outgoing client.
 * @returns the failure of the connection where there is no reply @throws the signal's reason
 */
export async function callBucket(
  { http, now }: BucketCalls,
  { bucket, account }: BucketUrls,
  request: Omit<HeaderRequest, 'signedAt'>,
  { signal, headers: unsigned, ...more }: CallLimits = {},
): Promise<OutgoingReply | OutgoingError> {
  const { url, headers } = bucket.sign({ ...request, signedAt: now() });
  const sent = { method: request.method, url, headers: { ...headers, ...unsigned }, ...more };
  try {
    return await forAccount(http, account)(sent, signal);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof OutgoingError) return error;
    throw error;
  }
}
