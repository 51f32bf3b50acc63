import type { OpenedStorage } from '../../../storages/commands/open-storage.js';
import type { ExistingAsset } from '../../domain/asset/asset.js';
import { bytesOfPart, type OpenMultipart, partCountOf } from '../../domain/asset/multipart.js';
import { rejectAsset } from '../../domain/asset/rejections.js';
import { wholeKey } from '../../../storages/domain/bucket/object-key-rules.js';
import type {
  ListedPart,
  MultipartFailure,
  MultipartTarget,
} from '../../../storages/bucket/objects/multipart.js';

/** One part of an upload. */
export interface UploadPart {
  readonly part_number: number;
  /** In bytes. The URL is signed for exactly this size. */
  readonly size: number;
  /** Where to PUT the part; null for a part that the bucket has. */
  readonly url: string | null;
}

/** A page of an upload in parts. */
export interface UploadPage {
  readonly id: string;
  readonly part_size: number;
  readonly part_count: number;
  /** RFC 3339; the service aborts the upload then. */
  readonly aborts_at: string;
  readonly parts: readonly UploadPart[];
  /** RFC 3339; the URLs are refused from then on. */
  readonly expires_at: string;
  /** The `after` of the next page; null on the last one. */
  readonly next_after: number | null;
}

export interface PartsPage {
  /** The number of the part before the page; 0 for the first page. */
  readonly after: number;
  readonly limit: number;
}

const lifeSeconds = 3_600;

/** Signs the parts of a page that the bucket does not have, for an hour. @param listed the parts that it has */
export function makeUploadPage(
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
  const parts: UploadPart[] = [];
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
  { object_key, bucket_upload_id: bucketUploadId }: OpenMultipart,
): MultipartTarget & { readonly bucketUploadId: string } {
  return { urls, key: wholeKey(storage.configuration.base_path, object_key), bucketUploadId };
}

/** @throws CommandRejected bucket_unavailable, bucket_refused */
export function rejectFailure(failure: MultipartFailure): never {
  return failure === 'away'
    ? rejectAsset('bucket_unavailable', 'the bucket did not answer, or reported an error; try again')
    : rejectAsset('bucket_refused', 'the bucket refused the upload in parts; test the storage');
}
