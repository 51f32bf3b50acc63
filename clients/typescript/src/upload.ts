import type { StowageApi } from './client.js';
import type { components } from './document.js';
import { must, StowageError } from './errors.js';
import { putBytes } from './put-bytes.js';
import { sleep } from './retry.js';

type Upload = components['schemas']['MultipartUpload'];
type Part = Upload['parts'][number];
type Asset = components['schemas']['Asset'];

/** The asset that the file belongs to. Its `size` is the size of the file. */
export interface UploadTarget {
  readonly projectId: string;
  readonly assetId: string;
}

const mebibyte = 2 ** 20;
/** Smaller files are one request. */
const partsFrom = 16 * mebibyte;
/** The most that buckets take in one request: 5 GiB. */
const wholeMax = 5_120 * mebibyte;

export interface UploadOptions {
  /** Receives the bytes that the bucket has, and the size of the file. */
  readonly onProgress?: (sent: number, size: number) => void;
  readonly signal?: AbortSignal;
  /** How many parts are sent at once; 3 by default. */
  readonly atOnce?: number;
  /** How often a part, or the whole file, is sent at most; 5 by default. */
  readonly triesMax?: number;
}

/**
 * Uploads the file of an asset and returns the asset. A file of 16 MiB or more is sent in parts where the storage can. It goes
 * on where an earlier attempt for the same asset ended: call it again with the same file after a reload or a lost network
 * (docs/uploads.md#uploads-in-parts). The first part that fails for good ends the other ones.
 * @throws StowageError for a refusal of the service; Error when the file has another size than the asset, before a byte is sent, and
 * when the bucket refuses the bytes; the reason of the signal
 */
export async function uploadFile(
  api: StowageApi,
  target: UploadTarget,
  file: Blob,
  {
    onProgress = () => undefined,
    signal: callerSignal = new AbortController().signal,
    atOnce = 3,
    triesMax = 5,
  }: UploadOptions = {},
): Promise<Asset> {
  const path = { ...target };
  // It ends all parts: at the wish of the caller, and when one of them has failed.
  const stop = new AbortController();
  const { signal } = stop;
  const stopByCaller = (): void => stop.abort(callerSignal.reason);
  if (callerSignal.aborted) stopByCaller();
  else callerSignal.addEventListener('abort', stopByCaller, { once: true });
  const { size, storage_id: storageId, object: replaced } = await readAsset();
  // The parts have the size of the asset: of a longer file, the bucket would get the beginning alone.
  if (file.size !== size) throw new Error(`the file has ${file.size} bytes, and the asset has ${size}`);
  const first = await startParts();
  if (first === null) return putWhole();
  const { part_size: partSize } = first;
  const uploadPath = { ...path, uploadId: first.id };
  const sent = new Map<number, number>();
  const report = (part: Part, bytes: number): void => {
    sent.set(part.part_number, bytes);
    onProgress(
      [...sent.values()].reduce((sum, one) => sum + one, 0),
      file.size,
    );
  };

  for (let page: Upload | null = first; page !== null; page = await after(page)) {
    const waiting = page.parts.filter(({ url }) => url !== null);
    for (const part of page.parts) if (part.url === null) report(part, part.size);
    const work = async (): Promise<void> => {
      for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) await putPart(part);
    };
    const workers = Array.from({ length: atOnce }, () =>
      work().catch((error: unknown) => {
        stop.abort(error);
        throw error;
      }),
    );
    await Promise.all(workers);
  }
  return joinParts();

  function readAsset(): Promise<Asset> {
    return must(api.GET('/api/v1/projects/{projectId}/assets/{assetId}', { params: { path }, signal }));
  }

  /** Sends a call again that does no harm twice, while the service or the bucket is away. */
  async function untilAnswered(call: () => Promise<Asset>): Promise<Asset> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await call();
      } catch (error) {
        signal.throwIfAborted();
        const isRefused = error instanceof StowageError && error.status !== 503;
        if (isRefused || tries >= triesMax) throw error;
      }
      await sleep(250 * 2 ** tries, signal);
    }
  }

  async function joinParts(): Promise<Asset> {
    let tries = 0;
    const join = (): Promise<Asset> => {
      tries += 1;
      return must(
        api.POST('/api/v1/projects/{projectId}/assets/{assetId}/uploads/{uploadId}/complete', {
          ...{ params: { path: uploadPath }, body: {}, signal },
        }),
      );
    };
    try {
      return await untilAnswered(join);
    } catch (error) {
      // The upload is over. An attempt whose reply was lost has joined the parts, if the bucket has another object than before.
      if (tries === 1 || !(error instanceof StowageError) || error.code !== 'not_found') throw error;
      const asset = await readAsset();
      if (asset.upload !== 'complete' || asset.object?.entity_tag === replaced?.entity_tag) throw error;
      return asset;
    }
  }

  /** Returns null where the file is sent in one request. */
  async function startParts(): Promise<Upload | null> {
    if (size < partsFrom || (size <= wholeMax && (await hasNoParts()))) return null;
    const started = must(
      api.POST('/api/v1/projects/{projectId}/assets/{assetId}/uploads', {
        params: { path },
        body: {},
        signal,
      }),
    );
    return started.catch((error: unknown) => {
      // The bucket refuses an upload in parts.
      if (error instanceof StowageError && error.code === 'conflict' && size <= wholeMax) return null;
      throw error;
    });
  }

  /** Whether the last test of the storage found no uploads in parts. A key without the right to read it does not learn that. */
  async function hasNoParts(): Promise<boolean> {
    const params = { path: { projectId: target.projectId, storageId } };
    const { data } = await api.GET('/api/v1/projects/{projectId}/storages/{storageId}', { params, signal });
    return data?.warnings.some(({ code }) => code === 'no_multipart') ?? false;
  }

  async function putWhole(): Promise<Asset> {
    const at = '/api/v1/projects/{projectId}/assets/{assetId}';
    for (let tries = 1; ; tries += 1) {
      const { url, headers } = await must(
        api.POST(`${at}/upload-url`, { params: { path }, body: {}, signal }),
      );
      const failure = await putBytes(url, file, {
        signal,
        mediaType: headers['content-type'],
        onProgress: (count) => onProgress(count, size),
      });
      if (failure === null) break;
      signal.throwIfAborted();
      if (tries >= triesMax) throw new Error(`the file was not stored: ${failure}`);
      await sleep(250 * 2 ** tries, signal);
    }
    return untilAnswered(() => must(api.POST(`${at}/uploaded`, { params: { path }, body: {}, signal })));
  }

  async function after({ next_after }: Upload): Promise<Upload | null> {
    return next_after === null ? null : readParts({ after: next_after });
  }

  function readParts(query: { after: number; limit?: number }): Promise<Upload> {
    const params = { path: uploadPath, query };
    return must(
      api.GET('/api/v1/projects/{projectId}/assets/{assetId}/uploads/{uploadId}', { params, signal }),
    );
  }

  async function putPart(part: Part): Promise<void> {
    const from = (part.part_number - 1) * partSize;
    const bytes = file.slice(from, from + part.size);
    let { url } = part;
    for (let tries = 1; url !== null; tries += 1) {
      const failure = await putBytes(url, bytes, {
        signal,
        onProgress: (count) => report(part, count),
      });
      if (failure === null) break;
      signal.throwIfAborted();
      if (tries >= triesMax) throw new Error(`part ${part.part_number} was not stored: ${failure}`);
      report(part, 0);
      await sleep(250 * 2 ** tries, signal);
      // The URL may have expired, and the part may have arrived although its reply was lost.
      url = (await readParts({ after: part.part_number - 1, limit: 1 })).parts[0]?.url ?? null;
    }
    report(part, part.size);
  }
}
