import type { Clock } from '../event-sourcing/clock.js';
import { rejectAsset } from '../domain/asset/rejections.js';
import { originalKind } from '../domain/asset/description.js';
import { invalid } from '../domain/invalid-request.js';
import { wholeKey } from '../domain/storage/object-key.js';
import type { UsageReader } from '../../projections/usage/reader.js';
import type { AssetAddress, ExistingAsset, RequireAsset } from './asset-ownership.js';
import type { OpenAssetStorage } from './asset-storage.js';

/** A request that stores one of an asset's files. */
export interface UploadUrl {
  readonly url: string;
  readonly method: 'PUT';
  /** To be sent exactly so, for they are signed; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** RFC 3339; the URL is refused from then on. */
  readonly expires_at: string;
}

/**
 * Signs an upload of the asset's own file, whose type and size are pinned, or of one of its renditions, whose type is.
 * Refused while what is stored, the asset itself included, is more than any owner of the project was granted.
 * @throws CommandRejected asset_not_found, asset_storage_unusable, invalid_request, upload_too_large, capacity_exceeded
 */
export type IssueUploadUrl = (
  input: AssetAddress & {
    /** The kind; undefined: the asset's own file. */
    readonly rendition: string | undefined;
  },
) => Promise<UploadUrl>;

const lifeSeconds = 15 * 60;
/** Bytes that S3, OSS and COS take in one request: 5 GiB. */
const uploadSizeMax = 5 * 2 ** 30;

export function makeIssueUploadUrl({
  clock,
  requireAsset,
  openAssetStorage,
  usage,
}: {
  readonly clock: Clock;
  readonly requireAsset: RequireAsset;
  readonly openAssetStorage: OpenAssetStorage;
  readonly usage: Pick<UsageReader, 'hasRoom'>;
}): IssueUploadUrl {
  return async ({ rendition, ...address }) => {
    const asset = await requireAsset(address);
    const { object_key, headers } = uploadOf(asset, rendition ?? originalKind);
    const { storage, urls } = await openAssetStorage(asset);
    if (!(await usage.hasRoom(address.projectId))) {
      rejectAsset(
        'capacity_exceeded',
        "the assets of the project's owners are larger than their capacity; remove some, or add capacity",
      );
    }
    const signedAt = new Date(Math.floor(clock.now().getTime() / 1_000) * 1_000);
    const key = wholeKey(storage.configuration.base_path, object_key);
    return {
      url: urls.uploadUrl({ key, headers, signedAt, expiresInSeconds: lifeSeconds }),
      method: 'PUT',
      headers,
      expires_at: new Date(signedAt.getTime() + lifeSeconds * 1_000).toISOString(),
    };
  };
}

function uploadOf(
  { object_key, media_type, size, renditions }: ExistingAsset,
  kind: string,
): { readonly object_key: string; readonly headers: Readonly<Record<string, string>> } {
  if (kind === originalKind) {
    if (size > uploadSizeMax) {
      rejectAsset('upload_too_large', 'one request stores 5 GiB at most; upload the file by other means');
    }
    return { object_key, headers: { 'content-type': media_type, 'content-length': String(size) } };
  }
  const found = renditions.find((rendition) => rendition.kind === kind);
  if (found === undefined) return invalid('rendition', 'the asset has no rendition of this kind');
  return { object_key: found.object_key, headers: { 'content-type': found.media_type } };
}
