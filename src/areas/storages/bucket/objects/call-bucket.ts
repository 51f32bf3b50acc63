import {
  OutgoingError,
  type OutgoingHttp,
  type OutgoingReply,
  type OutgoingRequest,
  forAccount,
} from '../../../../outgoing/outgoing-http.js';
import type { StorageUrls } from '../signing/media-urls.js';
import type { HeaderRequest } from '../signing/signer.js';
import type { ProbeFailureCode } from '../../domain/delivery/test-failure.js';
import { failureOfConnection, failureOfReply } from '../probing/probe-failure.js';
import { readStorageError } from '../probing/provider-codes.js';

/** `deleted`: the bucket no longer holds the object, or never did. */
export type DeleteAnswer =
  | 'deleted'
  | {
      readonly cause: ProbeFailureCode;
      /** The code that the provider wrote; null without one. */
      readonly providerCode: string | null;
      /** False: the bucket gave no answer, so it may still delete the object. */
      readonly isAnswered: boolean;
    };

/** Deletes one object (DeleteObject of S3, OSS and COS). The outgoing client limits the time. @throws the signal's reason */
export type DeleteObject = ReturnType<typeof makeDeleteObject>;

export function makeDeleteObject(calls: BucketCalls) {
  return async (
    input: {
      readonly urls: BucketUrls;
      /** The whole key in the bucket. */
      readonly key: string;
    },
    signal?: AbortSignal,
  ) => {
    const { urls, key } = input;
    const reply = await callBucket(calls, urls, { method: 'DELETE', key }, { signal });
    if (!(reply instanceof OutgoingError)) return answerOf(reply);
    return { cause: failureOfConnection(reply.failure).code, providerCode: null, isAnswered: false };
  };
}

async function answerOf(reply: OutgoingReply): Promise<DeleteAnswer> {
  const { status } = reply;
  if (status >= 200 && status < 300) return 'deleted';
  const error = await readStorageError(reply.body);
  const providerCode = error?.code ?? null;
  // The page of a proxy says nothing about the object.
  if (status === 404 && (providerCode === 'NoSuchKey' || reply.body.length === 0)) return 'deleted';
  const { code: cause } = await failureOfReply('delete', reply, error);
  return { cause, providerCode, isAnswered: status < 500 };
}

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
