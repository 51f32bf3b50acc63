import {
  OutgoingError,
  type OutgoingFailure,
  forAccount,
  type OutgoingReply,
  type OutgoingRequest,
} from '../../../../outgoing/outgoing-http.js';
import type { TestResult, TestWarning } from '../../domain/delivery/test-failure.js';
import type { DeliveryAddress, StorageUrls } from '../signing/media-urls.js';
import {
  failureOfCdnConnection,
  failureOfCdnReply,
  failureOfConnection,
  failureOfPublicEndpoint,
  failureOfReply,
  type ProbeFailure,
} from './probe-failure.js';
import { probePages } from './probe-pages.js';
import type { BucketCalls } from '../objects/call-bucket.js';
import { makeHeadObject } from '../objects/head-object.js';
import { makeMultipart } from '../objects/multipart.js';
import { readXml } from '../objects/xml.js';
import type { HeaderRequest } from '../signing/signer.js';

interface ProbeTarget {
  readonly urls: StorageUrls;
  readonly provider: DeliveryAddress['provider'];
  /** The folder that all keys begin with, without a slash at its end; `''` without a folder. */
  readonly basePath: string;
  /** The mode of the storage's domain, which the probe then tests too; null without a domain. */
  readonly cdn: DeliveryAddress['mode'] | null;
  /** Whether browsers use another endpoint than the service, which the probe then tests too. */
  readonly hasPublicEndpoint: boolean;
  /** The origins of pages that upload files and fetch media. */
  readonly origins: readonly string[];
}

/**
 * Tests whether a bucket is usable (src/areas/storages/README.md#storage-tests): lists one key, writes an object, reads a part of it
 * by a signed URL and through `cdn_domain`, uploads it again in parts, asks for it as after an upload, and deletes it. It
 * uploads and reads through the public endpoint where it can reach it, and sends the preflights of pages. Keys that may not
 * list pass.
 * @returns the first failure, or the warnings
 */
export type ProbeBucket = ReturnType<typeof makeProbeBucket>;

const content = Buffer.from('Stowage tests this storage. This object may be deleted.\n');
const partBytes = 7;
const mediaType = 'text/x-stowage-probe';
const disposition = 'attachment; filename="probe.txt"';
/** More than any accepted difference of the clocks, so that an expired URL does not hide a cause. */
const urlLifeSeconds = 1_200;
/**
 * Storages accept 15 minutes, but a clock that is further off shortens or delays each media URL, which lives 15 to 20
 * minutes.
 */
const skewMsMax = 300_000;

export function makeProbeBucket({
  http: client,
  now,
  makeId,
}: BucketCalls & {
  /** Makes an id that is unique for each test. */
  readonly makeId: () => string;
}) {
  const headObject = makeHeadObject({ http: client, now });
  const multipart = makeMultipart({ http: client, now });
  return async (
    { urls, provider, basePath, cdn, hasPublicEndpoint, origins }: ProbeTarget,
    signal: AbortSignal,
  ): Promise<TestResult> => {
    const http = forAccount(client, urls.account);
    const key = `${basePath === '' ? '' : `${basePath}/`}.stowage-probe-${makeId()}`;
    /** What ends a request before the time of the outgoing client. */
    let ending: AbortSignal | undefined = signal;
    const unlisted = await attempt(list);
    if (unlisted !== null) return { failure: unlisted, warnings: [] };
    let unproven: ProbeFailure | null;
    let undeleted: ProbeFailure | null;
    const warnings: TestWarning[] = [];
    const warn = (code: TestWarning['code'], cause: string | null = null) =>
      warnings.push({ code, origins: [], cause });
    let isReached = true;
    try {
      unproven = await attempt(async () => {
        await write();
        await read();
        if (!(await joinsParts())) warn('no_multipart');
        await askAsAfterUpload();
        if (hasPublicEndpoint) await usePublicEndpoint();
        if (cdn !== null) await readThroughCdn(cdn);
      });
    } finally {
      // The object may exist after a failed write, after an error of this service, and after the time of the test.
      ending = undefined;
      undeleted = await attempt(remove);
    }
    const failure = unproven ?? undeleted;
    if (failure !== null) return { failure, warnings: [] };
    return { failure: null, warnings: [...warnings, ...(await askForPages())] };

    /** Lists one key, so that a wrong name, region or access key fails at once. A denied list is no failure. */
    async function list(): Promise<void> {
      // Storages differ in how they sign an empty parameter, so the request contains none.
      const query = { 'max-keys': '1', ...(basePath === '' ? {} : { prefix: basePath }) };
      const reply = await send({ method: 'GET', key: '', query }, undefined, failureOfFirstConnection);
      if (isSuccess(reply)) {
        // A server that lists more than it was asked for is a storage too.
        if ((await readXml(reply.body)).name !== 'ListBucketResult') fail('not_a_storage');
        return;
      }
      const failure = await failureOfReply('list', reply);
      if (failure.code !== 'request_refused') throw new Failed(failure);
    }

    async function write(): Promise<void> {
      const reply = await send({ method: 'PUT', key, headers: { 'content-type': mediaType } }, content);
      if (!isSuccess(reply)) throw new Failed(await failureOfReply('write', reply));
    }

    async function remove(): Promise<void> {
      const reply = await send({ method: 'DELETE', key });
      if (!isSuccess(reply) && reply.status !== 404) throw new Failed(await failureOfReply('delete', reply));
    }

    async function send(
      request: Omit<HeaderRequest, 'signedAt'>,
      body?: Buffer,
      explain?: Explain,
    ): Promise<OutgoingReply> {
      const { url, headers } = urls.bucket.sign({ ...request, signedAt: now() });
      const { method } = request;
      if (method === 'HEAD') throw new TypeError('a reply to HEAD names no error');
      const reply = await ask({ method, url, headers, ...(body === undefined ? {} : { body }) }, explain);
      checkClock(reply);
      return reply;
    }

    function readRequest() {
      return {
        key,
        query: { 'response-content-type': mediaType, 'response-content-disposition': disposition },
        signedAt: now(),
        expiresInSeconds: urlLifeSeconds,
      };
    }

    async function read(): Promise<void> {
      const reply = await ask(firstBytes(urls.bucket.presign({ ...readRequest(), method: 'GET' })));
      const failure = failureOfContent(reply);
      if (failure === 'no_content') throw new Failed(await failureOfReply('read', reply));
      if (failure !== null) fail(failure);
      if (!/^attachment\b/i.test(reply.headers['content-disposition'] ?? ''))
        warn('content_disposition_ignored');
    }

    /** Uploads the object again in one part, and says whether the bucket can join it. */
    async function joinsParts(): Promise<boolean> {
      const id = await multipart.start({ urls, key, mediaType });
      if (typeof id !== 'string') return false;
      const upload = { urls, key, bucketUploadId: id };
      const query = { partNumber: '1', uploadId: id };
      const unsent = await attempt(async () => {
        await send({ method: 'PUT', key, query }, content);
      });
      const parts = unsent === null ? await multipart.listParts({ ...upload, after: 0, limit: 1 }) : [];
      const isListed = 'length' in parts && parts[0]?.size === content.length;
      if (isListed && (await multipart.complete({ ...upload, parts })) === 'done') return true;
      // The bucket would keep the parts of a test whose time is up.
      await multipart.abort(upload);
      return false;
    }

    /** Where neither HEAD nor a range names the size, no upload could be confirmed. */
    async function askAsAfterUpload(): Promise<void> {
      const answer = await headObject({ urls, provider, key }, signal);
      if (answer.kind === 'refused') fail('read_denied');
      if (answer.kind !== 'found') fail(answer.kind === 'missing' ? 'content_changed' : 'range_ignored');
      if (answer.object.size !== content.length) fail('content_changed');
      if (answer.by === 'range') warn('head_refused');
    }

    /** Uploads and reads as a browser does. An endpoint that the service cannot reach is a warning. */
    async function usePublicEndpoint(): Promise<void> {
      const headers = { 'content-type': mediaType };
      const life = { signedAt: now(), expiresInSeconds: urlLifeSeconds };
      const url = urls.uploadUrl({ key, headers, ...life });
      try {
        const written = await http({ method: 'PUT', url, headers, body: content }, signal);
        if (!isSuccess(written)) throw new Failed(failureOfPublicEndpoint(written));
        const reply = await http(
          firstBytes(urls.client.presign({ ...readRequest(), method: 'GET' })),
          signal,
        );
        const failure = failureOfContent(reply);
        if (failure !== null) fail(failure === 'range_ignored' ? failure : 'public_endpoint_wrong');
      } catch (error) {
        if (!(error instanceof OutgoingError)) throw error;
        isReached = false;
        warn('public_endpoint_unchecked', error.failure);
      }
    }

    /** Sends the preflights where browsers send them, or to the endpoint if the service reaches only that. */
    async function askForPages(): Promise<readonly TestWarning[]> {
      const request = readRequest();
      const place = isReached ? urls.client : urls.bucket;
      const bucket = place.presign({ ...request, method: 'GET' });
      return probePages(http, origins, { bucket, cdn: cdn === null ? null : urls.mediaUrl(request) }, signal);
    }

    async function readThroughCdn(mode: NonNullable<typeof cdn>): Promise<void> {
      const reply = await ask(firstBytes(urls.mediaUrl(readRequest())), failureOfCdnConnection);
      const failure = failureOfContent(reply);
      if (failure === 'no_content')
        throw new Failed(failureOfCdnReply(reply.status, { isSigned: mode !== 'public' }));
      if (failure !== null) fail(`cdn_${failure}`);
    }

    async function ask(
      request: OutgoingRequest,
      explain: Explain = failureOfConnection,
    ): Promise<OutgoingReply> {
      return http(request, ending).catch((error: unknown) => {
        if (error instanceof OutgoingError) throw new Failed(explain(error.failure, request));
        throw error;
      });
    }

    function checkClock({ headers }: OutgoingReply): void {
      const theirs = Date.parse(headers['date'] ?? '');
      if (Math.abs(theirs - now().getTime()) > skewMsMax) fail('clock_skewed');
    }
  };
}

type Explain = (failure: OutgoingFailure, request: OutgoingRequest) => ProbeFailure;

/** A port that expects TLS closes the first connection without it. */
function failureOfFirstConnection(failure: OutgoingFailure, { url }: OutgoingRequest): ProbeFailure {
  if (failure === 'connection_failed' && url.startsWith('http:'))
    return { code: 'https_expected', hint: null };
  return failureOfConnection(failure);
}

function firstBytes(url: string): OutgoingRequest {
  return { method: 'GET', url, headers: { range: `bytes=0-${partBytes - 1}` } };
}

function failureOfContent(input: OutgoingReply): 'no_content' | 'content_changed' | 'range_ignored' | null {
  const { status, body } = input;
  if (status !== 206 && status !== 200) return 'no_content';
  const expected = status === 206 ? content.subarray(0, partBytes) : content;
  if (!body.equals(expected)) return 'content_changed';
  return status === 206 ? null : 'range_ignored';
}

async function attempt(work: () => Promise<void>): Promise<ProbeFailure | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof Failed) return error.failure;
    throw error;
  }
}

function isSuccess({ status }: OutgoingReply): boolean {
  return status >= 200 && status < 300;
}

class Failed extends Error {
  override readonly name = 'Failed';
  readonly failure: ProbeFailure;

  constructor(failure: ProbeFailure) {
    super(failure.code);
    this.failure = failure;
  }
}

function fail(code: ProbeFailure['code']): never {
  throw new Failed({ code, hint: null });
}
