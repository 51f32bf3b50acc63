import { CommandRejected } from '../../event-sourcing/errors.js';

export type AssetRejection =
  /** There is no such asset, or there is none any more. */
  | 'asset_not_found'
  /** No storage was named, and the project has no default one. */
  | 'no_default_storage'
  /** The storage that was named, or that the asset is kept in, is deleted, disabled or not the project's. */
  | 'asset_storage_unusable'
  /** No provider takes so much in one request. */
  | 'upload_too_large'
  /** What the project's owners store is more than they were granted. */
  | 'capacity_exceeded';

export function rejectAsset(code: AssetRejection, message: string): never {
  throw new CommandRejected<AssetRejection>(code, message);
}
