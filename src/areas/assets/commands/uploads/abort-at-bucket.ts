import type { AssetDeps } from '../../deps.js';
import type { OpenMultipart } from '../../domain/asset/multipart.js';
import type { OpenAssetStorage } from '../asset-storage.js';
import { targetOf } from './upload-parts.js';

/**
 * Aborts an upload in parts at its bucket, which may have done so before.
 * @throws CommandRejected asset_storage_unusable; the errors of `OpenStorage.serving`; the signal's reason
 */
export type AbortAtBucket = (
  open: OpenMultipart,
  signal?: AbortSignal,
) => Promise<'aborted' | 'refused' | 'away'>;

export function makeAbortAtBucket({
  multipart,
  openAssetStorage,
}: Pick<AssetDeps, 'multipart'> & { readonly openAssetStorage: OpenAssetStorage }): AbortAtBucket {
  return async (open, signal) => {
    const aborted = await multipart.abort(targetOf(await openAssetStorage(open), open), signal);
    return aborted === 'done' || aborted.failure === 'missing' ? 'aborted' : aborted.failure;
  };
}
