import { withLimit } from './retry.js';

/** The time in which a part must arrive, in ms: the life of its URL is an hour. */
const putMsMax = 3_600_000;

interface PutOptions {
  readonly signal: AbortSignal;
  /** Receives the sent bytes. Without XMLHttpRequest (Node) it is called at the end only. */
  readonly onProgress: (sent: number) => void;
  /** Left out for a part, whose signature covers none. */
  readonly mediaType?: string | undefined;
}

/**
 * Sends bytes to the signed URL of a bucket. Returns null when the bucket has them, and what is wrong otherwise.
 */
export async function putBytes(url: string, body: Blob, options: PutOptions): Promise<string | null> {
  // A type of the Blob would be sent in place of a missing one.
  const bytes = new Blob([body], { type: '' });
  return typeof XMLHttpRequest === 'undefined'
    ? putByFetch(url, bytes, options)
    : putByXhr(url, bytes, options);
}

async function putByFetch(
  url: string,
  body: Blob,
  { signal, onProgress, mediaType }: PutOptions,
): Promise<string | null> {
  const limit = withLimit(signal, putMsMax);
  try {
    const headers = mediaType === undefined ? {} : { 'content-type': mediaType };
    const reply = await fetch(url, { method: 'PUT', headers, body, signal: limit.signal });
    await reply.arrayBuffer();
    if (!reply.ok) return `the bucket answered ${reply.status}`;
    onProgress(body.size);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(limit.timer as number);
  }
}

/** fetch reports no progress of what it sends; XMLHttpRequest does. */
function putByXhr(
  url: string,
  body: Blob,
  { signal, onProgress, mediaType }: PutOptions,
): Promise<string | null> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    const abort = (): void => request.abort();
    signal.addEventListener('abort', abort, { once: true });
    const end = (failure: string | null): void => {
      signal.removeEventListener('abort', abort);
      resolve(failure);
    };
    request.upload.onprogress = ({ loaded }) => onProgress(loaded);
    request.onload = () => {
      end(request.status >= 200 && request.status < 300 ? null : `the bucket answered ${request.status}`);
    };
    request.onerror = () => end('the connection failed, or the CORS rules of the bucket refuse this page');
    request.onabort = () => end('the upload was aborted');
    request.ontimeout = () => end('the bucket did not answer in an hour');
    request.timeout = putMsMax;
    request.open('PUT', url);
    if (mediaType !== undefined) request.setRequestHeader('content-type', mediaType);
    // An abort of a request that was not sent fires no event.
    if (signal.aborted) end('the upload was aborted');
    else request.send(body);
  });
}
