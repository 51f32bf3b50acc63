import { CommandRejected } from '../../event-sourcing/errors.js';

export type AssetRejection =
  /** There is no such asset, or there is none any more. */
  | 'asset_not_found'
  /** No storage was named, and the project has no default one. */
  | 'no_default_storage';

export function rejectAsset(code: AssetRejection, message: string): never {
  throw new CommandRejected<AssetRejection>(code, message);
}
