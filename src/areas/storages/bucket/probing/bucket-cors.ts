import { hash } from 'node:crypto';
import { forAccount, OutgoingError, type OutgoingReply } from '../../../../outgoing/outgoing-http.js';
import type { BucketCalls } from '../objects/call-bucket.js';
import { withCorsRule, type CorsRuleFor } from './cors-configuration.js';
import type { StorageUrls } from '../signing/media-urls.js';
import type { ProbeFailureCode } from './probe-failure-code.js';
import { failureOfConnection, failureOfReply } from './probe-failure.js';
import { probePages } from './probe-pages.js';
import { readStorageError } from './provider-codes.js';

/** The causes that only the CORS rules of a bucket have. */
export type CorsFailureCode = 'cors_denied' | 'cors_unsupported' | 'cors_refused' | 'cors_unreadable';

export type SetCorsResult =
  | {
      /** False: the bucket had all rules already. */
      readonly isChanged: boolean;
      /** The origins that the bucket refuses still. New rules may need a minute. */
      readonly refused: readonly string[];
    }
  | { readonly failure: CorsFailureCode | ProbeFailureCode };

/**
 * Adds the rule for the origins to the CORS rules of a bucket: reads them, merges, writes them and sends the preflights of
 * pages. Two changes at once may lose one of them, because providers write the rules without a condition.
 * @throws the signal's reason
 */
export type SetBucketCors = (
  target: {
    readonly urls: StorageUrls;
    readonly origins: readonly string[];
    readonly ruleFor: CorsRuleFor;
  },
  signal: AbortSignal,
) => Promise<SetCorsResult>;

/** The reply is cut off at 64 KiB, and a cut configuration is not readable. */
export function makeSetBucketCors({ http: client, now }: BucketCalls): SetBucketCors {
  return async ({ urls, origins, ruleFor }, signal) => {
    const http = forAccount(client, urls.account);
    try {
      const got = await send('GET', undefined);
      const hasNone = await saysNone(got);
      if (!hasNone && got.status !== 200) return { failure: await failureOfCors(got) };
      const merged = await withCorsRule(hasNone ? null : got.body, origins, ruleFor);
      if (merged.is === 'unreadable') return { failure: 'cors_unreadable' };
      if (merged.is === 'changed') {
        const put = await send('PUT', Buffer.from(merged.xml));
        if (put.status < 200 || put.status >= 300) return { failure: await failureOfCors(put) };
      }
      return { isChanged: merged.is === 'changed', refused: await refusedOf() };
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof OutgoingError) return { failure: failureOfConnection(error.failure).code };
      throw error;
    }

    async function send(method: 'GET' | 'PUT', body: Buffer | undefined): Promise<OutgoingReply> {
      // S3 and COS refuse these rules without the digest; OSS checks it.
      const own =
        body === undefined
          ? {}
          : { 'content-md5': hash('md5', body, 'base64'), 'content-type': 'application/xml' };
      const request = { method, key: '', query: { cors: '' }, headers: own, signedAt: now() };
      const { url, headers } = urls.bucket.sign(request);
      return http({ method, url, headers, ...(body === undefined ? {} : { body }) }, signal);
    }

    async function refusedOf(): Promise<readonly string[]> {
      const life = { signedAt: now(), expiresInSeconds: 60 };
      const bucket = urls.bucket.presign({ method: 'GET', key: 'cors', ...life });
      const warnings = await probePages(http, origins, { bucket, cdn: null }, signal);
      return warnings.find(({ code }) => code === 'cors_missing')?.origins ?? [];
    }
  };
}

async function saysNone({ status, body }: OutgoingReply): Promise<boolean> {
  return status === 404 && (await readStorageError(body))?.code === 'NoSuchCORSConfiguration';
}

async function failureOfCors(reply: OutgoingReply): Promise<CorsFailureCode | ProbeFailureCode> {
  // Servers without CORS rules say so with 501 or 405.
  if (reply.status === 501 || reply.status === 405) return 'cors_unsupported';
  const { code } = await failureOfReply('list', reply);
  if (code !== 'request_refused') return code;
  return reply.status === 403 ? 'cors_denied' : 'cors_refused';
}
