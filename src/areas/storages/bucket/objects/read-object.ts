import { OutgoingError } from '../../../../outgoing/outgoing-http.js';
import { type BucketCalls, type BucketUrls, callBucket } from './call-bucket.js';

/** `refused`: the bucket denies the request. `away`: no usable answer. `too_large`: the object is larger than asked for. */
export type ReadAnswer = { readonly body: Buffer } | 'missing' | 'refused' | 'away' | 'too_large';

/** Reads a small object from the bucket itself. The outgoing client limits the time. @throws the signal's reason */
export type ReadObject = (
  target: {
    readonly urls: BucketUrls;
    /** The whole key in the bucket. */
    readonly key: string;
    readonly bytesMax: number;
  },
  signal?: AbortSignal,
) => Promise<ReadAnswer>;

export function makeReadObject(calls: BucketCalls): ReadObject {
  return async ({ urls, key, bytesMax }, signal) => {
    const limits = { bodyBytesMax: bytesMax + 1, signal };
    const reply = await callBucket(calls, urls, { method: 'GET', key }, limits);
    if (reply instanceof OutgoingError) return 'away';
    const { status, body } = reply;
    if (status === 404) return 'missing';
    if (status >= 500 || status === 429) return 'away';
    if (status !== 200) return 'refused';
    if (body.length > bytesMax) return 'too_large';
    // A connection that breaks off may look like the end of the body.
    const length = reply.headers['content-length'];
    return length !== undefined && Number(length) !== body.length ? 'away' : { body };
  };
}
