import { CommandRejected, TargetNotFound } from '../../../../event-sourcing/ports/errors.js';

export type AssetRejection =
  /** The asset was never added, was removed, or belongs to another project. */
  | 'asset_not_found'
  /** The caller named no storage, and the project has no default storage. */
  | 'no_default_storage'
  /** The named storage, or the storage of the asset, is deleted, disabled or not the project's. */
  | 'asset_storage_unusable'
  /** The providers accept less in one request. */
  | 'upload_too_large'
  | 'rendition_not_found'
  | 'rendition_limit_reached'
  /** Another asset of the storage has one of the keys. */
  | 'object_key_taken'
  /** No upload in parts is open with this id. */
  | 'upload_not_found'
  /** The bucket does not have all parts of the upload, or some have another size. */
  | 'upload_incomplete'
  /** The bucket did not answer, or reported an error in itself. */
  | 'bucket_unavailable'
  /** The bucket refused to say whether it holds the object. */
  | 'bucket_refused'
  /** The bucket no longer takes the token of the page of an import. */
  | 'cursor_expired'
  /** The service cannot serve the playlist of a rendition `hls`. */
  | 'playlist_not_served'
  /** The assets of the project's payer would be, or are, larger than the payer's capacity. */
  | 'capacity_exceeded';

export function rejectAsset(code: AssetRejection, message: string): never {
  throw new CommandRejected<AssetRejection>(code, message);
}

export function renditionNotFound(): never {
  throw new TargetNotFound<AssetRejection>('rendition_not_found', 'the asset has no such rendition');
}

export function assetNotFound(): never {
  throw new TargetNotFound<AssetRejection>('asset_not_found', 'the asset does not exist');
}
