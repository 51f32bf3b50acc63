import { forAccount, OutgoingError, type OutgoingHttp } from '../../../../outgoing/outgoing-http.js';
import type { StorageUrls } from '../signing/media-urls.js';

/** `refused`: the bucket denies the request. `away`: no usable answer. `too_large`: the object is larger than asked for. */
export type ReadAnswer = { readonly body: Buffer } | 'missing' | 'refused' | 'away' | 'too_large';

/** Reads a small object from the bucket itself. The outgoing client limits the time. @throws the signal's reason */
export type ReadObject = (
  target: {
    readonly urls: Pick<StorageUrls, 'bucket' | 'account'>;
    /** The whole key in the bucket. */
    readonly key: string;
    readonly bytesMax: number;
  },
  signal?: AbortSignal,
) => Promise<ReadAnswer>;

export function makeReadObject({
  http,
  now,
}: {
  readonly http: OutgoingHttp;
  readonly now: () => Date;
}): ReadObject {
  return async ({ urls, key, bytesMax }, signal) => {
    const { url, headers } = urls.bucket.sign({ method: 'GET', key, signedAt: now() });
    try {
      const reply = await forAccount(http, urls.account)(
        { method: 'GET', url, headers, bodyBytesMax: bytesMax + 1 },
        signal,
      );
      const { status, body } = reply;
      if (status === 404) return 'missing';
      if (status >= 500 || status === 429) return 'away';
      if (status !== 200) return 'refused';
      if (body.length > bytesMax) return 'too_large';
      // A connection that breaks off may look like the end of the body.
      const length = reply.headers['content-length'];
      return length !== undefined && Number(length) !== body.length ? 'away' : { body };
    } catch (error) {
      signal?.throwIfAborted();
      if (error instanceof OutgoingError) return 'away';
      throw error;
    }
  };
}
