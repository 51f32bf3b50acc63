import { z } from 'zod';
import type { AssetDeps } from '../../deps.js';
import { derivedId, stepContext } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import {
  type ExistingAsset,
  assetAggregate,
  existingAsset,
  multipartOfFile,
  openMultipart,
} from '../../domain/asset/asset.js';
import {
  type OpenMultipart,
  type ReplacedObject,
  abandonedAt,
  bytesOfPart,
  partCountOf,
  partSizeFor,
  uploadNotFound,
} from '../../domain/asset/multipart.js';
import { instant, namedObject } from '../../../../validation/fields.js';
import { wholeKey } from '../../../storages/domain/bucket/bucket.js';
import type { OpenedStorage } from '../../../storages/commands/open-storage.js';
import type { HeadAnswer } from '../../../storages/bucket/objects/head-object.js';
import type { AskBucket, OpenAssetStorage } from '../add-asset.js';
import type { AssetAddress } from '../change-asset.js';
import type { Capacity } from '../capacity.js';
import { rejectAsset } from '../../domain/asset/rejections.js';
import type {
  ListedPart,
  MultipartFailure,
  MultipartTarget,
} from '../../../storages/bucket/objects/multipart.js';

/** A page of an upload in parts. */
export const multipartUpload = namedObject('MultipartUpload', {
  id: z.uuid(),
  part_size: z.int().describe('Bytes of each part; the last one may be smaller.'),
  part_count: z.int(),
  aborts_at: instant.describe('When the service aborts the upload: after 7 days.'),
  parts: z.array(
    z.strictObject({
      part_number: z.int(),
      size: z.int().describe('Signed: the part must have exactly this size.'),
      url: z.string().nullable().describe('Where to PUT it. Null: the bucket has it.'),
    }),
  ),
  expires_at: instant.describe('When the URLs end: in an hour.'),
  next_after: z.int().nullable().describe('Null on the last page.'),
});
type UploadPage = z.output<typeof multipartUpload>;

interface PartsPage {
  /** The number of the part before the page; 0 for the first page. */
  readonly after: number;
  readonly limit: number;
}

const lifeSeconds = 3_600;

/** Signs the parts of a page that the bucket does not have, for an hour. @param listed the parts that it has */
function makeUploadPage(
  { urls, storage }: OpenedStorage,
  { asset, open }: { readonly asset: Pick<ExistingAsset, 'size'>; readonly open: OpenMultipart },
  listed: readonly ListedPart[],
  { after, limit, now }: PartsPage & { readonly now: Date },
): UploadPage {
  const { part_size, bucket_upload_id: bucketUploadId } = open;
  const signedAt = new Date(Math.floor(now.getTime() / 1_000) * 1_000);
  const key = wholeKey(storage.configuration.base_path, open.object_key);
  const stored = new Map(listed.map((part) => [part.part_number, part.size]));
  const count = partCountOf(asset.size, part_size);
  const last = Math.min(count, after + limit);
  const parts: UploadPage['parts'] = [];
  for (let partNumber = after + 1; partNumber <= last; partNumber += 1) {
    const size = bytesOfPart(asset.size, part_size, partNumber);
    const request = { key, bucketUploadId, partNumber, size, signedAt, expiresInSeconds: lifeSeconds };
    const url = stored.get(partNumber) === size ? null : urls.partUrl(request);
    parts.push({ part_number: partNumber, size, url });
  }
  return {
    ...{ id: open.upload_id, part_size, part_count: count, aborts_at: open.abort_at, parts },
    expires_at: new Date(signedAt.getTime() + lifeSeconds * 1_000).toISOString(),
    next_after: last < count ? last : null,
  };
}

/** Returns where the bucket keeps the open upload. */
export function targetOf(
  { urls, storage }: OpenedStorage,
  { object_key, bucket_upload_id: bucketUploadId }: Pick<OpenMultipart, 'object_key' | 'bucket_upload_id'>,
): MultipartTarget & { readonly bucketUploadId: string } {
  return { urls, key: wholeKey(storage.configuration.base_path, object_key), bucketUploadId };
}

/** @throws CommandRejected bucket_unavailable, bucket_refused */
export function rejectFailure(failure: MultipartFailure): never {
  return failure === 'away'
    ? rejectAsset('bucket_unavailable', 'the bucket did not answer, or reported an error; try again')
    : rejectAsset('bucket_refused', 'the bucket refused the upload in parts; test the storage');
}

export type UploadAddress = AssetAddress & { readonly uploadId: string };

type Parts = Pick<AssetDeps, 'clock' | 'handler' | 'multipart'> & {
  readonly askBucket: AskBucket;
  readonly openAssetStorage: OpenAssetStorage;
  readonly capacity: Pick<Capacity, 'refuseUploadBeyond'>;
};

/**
 * Returns a page of an open upload: a URL for each part that the bucket does not have.
 * @throws CommandRejected asset_not_found, asset_storage_unusable, capacity_exceeded, bucket_unavailable,
 * bucket_refused, upload_not_found
 */
export function makeListUploadParts(deps: Parts) {
  const { handler, openAssetStorage, capacity } = deps;
  return async ({ projectId, assetId, uploadId, ...page }: UploadAddress & PartsPage) => {
    const { state } = await handler.load(assetAggregate, assetId);
    const asset = existingAsset(state, projectId);
    const open = multipartOfFile(asset);
    if (open?.upload_id !== uploadId) return uploadNotFound();
    const opened = await openAssetStorage(asset);
    await capacity.refuseUploadBeyond(projectId);
    return (await pageOfOpen(deps, opened, { asset, open, page })) ?? uploadNotFound();
  };
}

/** Makes the function that returns whether an upload in parts is open. */
export function makeIsUploadOpen({ handler }: Pick<Parts, 'handler'>) {
  return async ({ projectId, assetId, uploadId }: UploadAddress): Promise<boolean> => {
    const { state } = await handler.load(assetAggregate, assetId);
    if (state.status !== 'existing' || state.project_id !== projectId) return false;
    return multipartOfFile(state)?.upload_id === uploadId;
  };
}

/** Returns null where the bucket does not know the upload: buckets abort old uploads by their own rules. */
async function pageOfOpen(
  { clock, multipart }: Pick<Parts, 'clock' | 'multipart'>,
  opened: OpenedStorage,
  input: { readonly asset: ExistingAsset; readonly open: OpenMultipart; readonly page: PartsPage },
): Promise<UploadPage | null> {
  const { asset, open, page } = input;
  const listed = await multipart.listParts({ ...targetOf(opened, open), ...page });
  if (!('failure' in listed))
    return makeUploadPage(opened, { asset, open }, listed, { ...page, now: clock.now() });
  return listed.failure === 'missing' ? null : rejectFailure(listed.failure);
}

/**
 * Opens an upload of the asset's own file in parts, and returns a page of it. While one is open, it returns that one, so
 * that a client goes on after an interruption.
 * @throws CommandRejected asset_not_found, asset_storage_unusable, capacity_exceeded, bucket_unavailable,
 * bucket_refused, upload_not_found
 */
export function makeStartUpload(deps: Parts) {
  const { clock, handler, multipart, askBucket, openAssetStorage, capacity } = deps;
  return async ({ projectId, assetId, ...page }: AssetAddress & PartsPage, context: CommandContext) => {
    const target = assetAggregate.at(assetId);
    const { state } = await handler.load(assetAggregate, assetId);
    const asset = existingAsset(state, projectId);
    const opened = await openAssetStorage(asset);
    await capacity.refuseUploadBeyond(projectId);
    const already = openMultipart(state);
    if (already !== null) {
      const isOfFile = multipartOfFile(asset) !== null;
      const found = isOfFile ? await pageOfOpen(deps, opened, { asset, open: already, page }) : null;
      if (found !== null) return found;
      const aborted = isOfFile ? 'done' : await multipart.abort(targetOf(opened, already));
      if (aborted !== 'done' && aborted.failure !== 'missing') return rejectFailure(aborted.failure);
      const outcome = isOfFile ? 'lost' : 'aborted';
      const end = { type: 'EndMultipart', uploadId: already.upload_id, outcome } as const;
      await handler.handle(target, end, stepContext(context, 'lost'));
    }
    const upload = await openAtBucket(opened, asset, derivedId(context, 'upload'));
    await handler.handle(target, { type: 'StartMultipart', upload }, context);
    const open = openMultipart((await handler.load(assetAggregate, assetId)).state);
    if (open !== null && open.bucket_upload_id === upload.bucket_upload_id)
      return makeUploadPage(opened, { asset, open }, [], { ...page, now: clock.now() });
    // Another request was faster, or the asset is removed. The bucket keeps no part of this one, so a failure is harmless.
    await multipart.abort(targetOf(opened, upload));
    if (open === null) return uploadNotFound();
    return (await pageOfOpen(deps, opened, { asset, open, page })) ?? uploadNotFound();
  };

  async function openAtBucket(
    { urls, storage }: OpenedStorage,
    asset: ExistingAsset,
    upload_id: string,
  ): Promise<Omit<OpenMultipart, 'attempt' | 'file_size'>> {
    const { object_key, storage_id, media_type: mediaType, size } = asset;
    const replaces = replacedBy(await askBucket(asset));
    const key = wholeKey(storage.configuration.base_path, object_key);
    const started = await multipart.start({ urls, key, mediaType });
    if (typeof started !== 'string') return rejectFailure(started.failure);
    return {
      ...{ upload_id, bucket_upload_id: started, part_size: partSizeFor(size) },
      ...{ storage_id, object_key, abort_at: abandonedAt(clock.now()), replaces },
    };
  }
}

/** Of an object that the bucket does not show, nothing tells the new one apart. */
function replacedBy(answer: HeadAnswer): ReplacedObject | null {
  switch (answer.kind) {
    case 'found':
      return { entity_tag: answer.object.entity_tag, modified_at: answer.modified_at };
    case 'missing':
      return null;
    case 'refused':
      return { entity_tag: null, modified_at: null };
    case 'away':
      return rejectFailure('away');
  }
}
