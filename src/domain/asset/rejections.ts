import { CommandRejected, TargetNotFound } from '../../event-sourcing/ports/errors.js';

export type AssetRejection =
  /** The asset was never added, was removed, or belongs to another project. */
  | 'asset_not_found'
  /** The caller named no storage, and the project has no default storage. */
  | 'no_default_storage'
  /** The named storage, or the storage of the asset, is deleted, disabled or not the project's. */
  | 'asset_storage_unusable'
  /** The providers accept less in one request. */
  | 'upload_too_large'
  /** A rendition from before renditions had a size: an upload without a signed size could have any. */
  | 'rendition_without_size'
  /** The assets of the project's payer would be, or are, larger than the payer's capacity. */
  | 'capacity_exceeded';

export function rejectAsset(code: AssetRejection, message: string): never {
  throw new CommandRejected<AssetRejection>(code, message);
}

export function assetNotFound(): never {
  throw new TargetNotFound<AssetRejection>('asset_not_found', 'the asset does not exist');
}
