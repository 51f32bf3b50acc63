import type { Deps } from '../deps.js';
import { assetAggregate, type ExistingAsset, existingAsset } from '../../domain/asset/asset.js';
import { rejectAsset } from '../../domain/asset/rejections.js';
import { originalKind } from '../../domain/asset/description.js';
import { invalid } from '../../domain/invalid-request.js';
import { wholeKey } from '../../domain/storage/object-key.js';
import type { AssetAddress } from './change-asset.js';
import type { OpenAssetStorage } from './asset-storage.js';

/** A request that uploads one file of an asset. */
export interface UploadUrl {
  readonly url: string;
  readonly method: 'PUT';
  /** The client must send them unchanged, because they are signed. Names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** RFC 3339; the URL is refused from then on. */
  readonly expires_at: string;
}

/**
 * Signs an upload of the asset's own file, or of a rendition, with its type and size. It is refused while the assets of
 * the project's payer, this one included, exceed the payer's capacity (docs/design.md#capacity).
 * @throws CommandRejected asset_not_found, asset_storage_unusable, invalid_request, upload_too_large,
 * rendition_without_size, capacity_exceeded
 */
export type IssueUploadUrl = (
  input: AssetAddress & {
    /** The kind of a rendition; undefined: the asset's own file. */
    readonly rendition: string | undefined;
  },
) => Promise<UploadUrl>;

const lifeSeconds = 15 * 60;
/** Bytes that S3, OSS and COS accept in one request: 5 GiB. */
const uploadSizeMax = 5 * 2 ** 30;

export function makeIssueUploadUrl({
  clock,
  handler,
  openAssetStorage,
  usage,
}: Pick<Deps, 'clock' | 'handler' | 'usage'> & {
  readonly openAssetStorage: OpenAssetStorage;
}): IssueUploadUrl {
  return async ({ projectId, assetId, rendition }) => {
    const { state } = await handler.load(assetAggregate, assetId);
    const asset = existingAsset(state, projectId);
    const { object_key, headers } = uploadOf(asset, rendition ?? originalKind);
    const { storage, urls } = await openAssetStorage(asset);
    if (!(await usage.hasRoom(projectId))) {
      rejectAsset(
        'capacity_exceeded',
        "the assets of the project's payer are larger than their capacity; remove some, or add capacity",
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
  asset: ExistingAsset,
  kind: string,
): { readonly object_key: string; readonly headers: Readonly<Record<string, string>> } {
  const file = kind === originalKind ? asset : asset.renditions.find((rendition) => rendition.kind === kind);
  if (file === undefined) return invalid('rendition', 'the asset has no rendition of this kind');
  const { object_key, media_type, size } = file;
  if (size === null) {
    return rejectAsset(
      'rendition_without_size',
      'the rendition is from before renditions had a size; add the asset again',
    );
  }
  if (size > uploadSizeMax) {
    rejectAsset('upload_too_large', 'one request stores 5 GiB at most; upload the file by other means');
  }
  return { object_key, headers: { 'content-type': media_type, 'content-length': String(size) } };
}
