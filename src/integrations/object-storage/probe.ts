import {
  OutgoingError,
  type OutgoingHttp,
  type OutgoingReply,
  type OutgoingRequest,
} from '../outgoing/outgoing-http.js';
import type { DeliveryAddress, StorageUrls } from './media-urls.js';
import {
  failureOfCdnConnection,
  failureOfCdnReply,
  failureOfConnection,
  failureOfReply,
  type ProbeFailure,
} from './probe-failure.js';
import type { HeaderRequest } from './signer.js';

export interface ProbeTarget {
  readonly urls: StorageUrls;
  /** The folder that all keys begin with, without a slash at its end; `''` where there is none. */
  readonly basePath: string;
  /** How media go through a domain of the storage's own, which is then tested too; null where there is none. */
  readonly cdn: DeliveryAddress['mode'] | null;
}

/**
 * Proves that a bucket can be used (DESIGN 4.3, Probe): connects through the guard, lists one key, writes an object, reads
 * a byte of it by a signed URL, the same through `cdn_domain`, and deletes it. Keys that may not list are welcome.
 * @returns null when all went well, or the first thing that did not
 */
export type ProbeStorage = (target: ProbeTarget, signal: AbortSignal) => Promise<ProbeFailure | null>;

/** What is written; what comes back is compared with it. */
const content = Buffer.from('Stowage tests this storage. This object may be deleted.\n');
const partBytes = 7;
const mediaType = 'text/x-stowage-probe';
const urlLifeSeconds = 300;
/** AWS and its likes accept 15 minutes; OSS and COS too. Beyond 10 a URL's life would already be off. */
const skewMsMax = 600_000;

export function makeProbeStorage({
  http,
  now,
  makeId,
}: {
  readonly http: OutgoingHttp;
  readonly now: () => Date;
  /** Names the object that is written: nobody else's, and another one each time. */
  readonly makeId: () => string;
}): ProbeStorage {
  return async ({ urls, basePath, cdn }, signal) => {
    const key = `${basePath === '' ? '' : `${basePath}/`}.stowage-probe-${makeId()}`;
    const unlisted = await attempt(list);
    if (unlisted !== null) return unlisted;
    const unproven = await attempt(async () => {
      await write();
      await read();
      if (cdn !== null) await readThroughCdn(cdn);
    });
    // What was written, or may have been, is taken away whatever came after; of two failures the first is told.
    const undeleted = await attempt(remove);
    return unproven ?? undeleted;

    /** May be denied: what it is for is that a wrong name, region or key is told at once. */
    async function list(): Promise<void> {
      // An empty parameter is signed in one way by some storages and in another by others, so none is sent.
      const query = { 'max-keys': '1', ...(basePath === '' ? {} : { prefix: basePath }) };
      const reply = await send({ method: 'GET', key: '', query });
      if (isSuccess(reply)) {
        if (!/<ListBucketResult|<Contents>/.test(reply.body.toString('utf8'))) fail('not_a_storage');
        return;
      }
      const failure = failureOfReply('list', reply.status, reply.body.toString('utf8'));
      if (failure.code !== 'request_refused') throw new Failed(failure);
    }

    async function write(): Promise<void> {
      const reply = await send({ method: 'PUT', key, headers: { 'content-type': mediaType } }, content);
      if (!isSuccess(reply)) {
        throw new Failed(failureOfReply('write', reply.status, reply.body.toString('utf8')));
      }
    }

    async function remove(): Promise<void> {
      const reply = await send({ method: 'DELETE', key });
      if (!isSuccess(reply) && reply.status !== 404) {
        throw new Failed(failureOfReply('delete', reply.status, reply.body.toString('utf8')));
      }
    }

    async function send(request: Omit<HeaderRequest, 'signedAt'>, body?: Buffer): Promise<OutgoingReply> {
      const { url, headers } = urls.bucket.sign({ ...request, signedAt: now() });
      const { method } = request;
      if (method === 'HEAD') throw new TypeError('a reply to HEAD names no error');
      const reply = await ask({ method, url, headers, ...(body === undefined ? {} : { body }) });
      checkClock(reply);
      return reply;
    }

    function readRequest() {
      return {
        key,
        query: { 'response-content-type': mediaType },
        signedAt: now(),
        expiresInSeconds: urlLifeSeconds,
      };
    }

    async function read(): Promise<void> {
      const reply = await ask(firstBytes(urls.bucket.presign({ ...readRequest(), method: 'GET' })));
      const failure = failureOfContent(reply);
      if (failure === 'no_content') {
        throw new Failed(failureOfReply('read', reply.status, reply.body.toString('utf8')));
      }
      if (failure !== null) fail(failure);
    }

    async function readThroughCdn(mode: NonNullable<typeof cdn>): Promise<void> {
      const reply = await ask(firstBytes(urls.mediaUrl(readRequest())), failureOfCdnConnection);
      const failure = failureOfContent(reply);
      if (failure === 'no_content') {
        throw new Failed(failureOfCdnReply(reply.status, { isSigned: mode !== 'public' }));
      }
      if (failure !== null) fail(`cdn_${failure}`);
    }

    async function ask(request: OutgoingRequest, explain = failureOfConnection): Promise<OutgoingReply> {
      return http(request, signal).catch((error: unknown) => {
        if (error instanceof OutgoingError) throw new Failed(explain(error.failure));
        throw error;
      });
    }

    function checkClock({ headers }: OutgoingReply): void {
      const theirs = Date.parse(headers['date'] ?? '');
      if (Math.abs(theirs - now().getTime()) > skewMsMax) fail('clock_skewed');
    }
  };
}

/** Asks for a part, as players do. */
function firstBytes(url: string): OutgoingRequest {
  return { method: 'GET', url, headers: { range: `bytes=0-${partBytes - 1}` } };
}

/** What is wrong with what was read; null when it is the part that was asked for. */
function failureOfContent({
  status,
  body,
}: OutgoingReply): 'no_content' | 'content_changed' | 'range_ignored' | null {
  if (status !== 206 && status !== 200) return 'no_content';
  const expected = status === 206 ? content.subarray(0, partBytes) : content;
  if (!body.equals(expected)) return 'content_changed';
  return status === 206 ? null : 'range_ignored';
}

/** What failed, or null. */
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
