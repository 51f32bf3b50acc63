import type { AssetDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../../event-sourcing/views/views.js';
import { assetAggregate, existingAsset } from '../../domain/asset/asset.js';
import { rejectAsset } from '../../domain/asset/rejections.js';
import type { SeenObject } from '../../domain/asset/fold.js';
import type { HeadAnswer } from '../../../storages/bucket/objects/head-object.js';
import type { AssetResource } from '../../../../../projections/assets/assets/reader.js';
import type { AskBucket } from '../asset-storage.js';
import type { AssetAddress } from '../change-asset.js';

interface Answered extends AssetAddress {
  /** SHA-256 of the file in hexadecimal, as the client computed it; null where it computed none. */
  readonly sha256: string | null;
}

export function makeConfirmUpload({
  handler,
  assets,
  askBucket,
}: Pick<AssetDeps, 'handler' | 'assets'> & { readonly askBucket: AskBucket }) {
  const recordAnswer = makeRecordAnswer({ handler, assets });
  /**
   * Asks the bucket whether it holds the asset's own file as described, and records the answer. Without an object, a
   * `pending` asset stays as it is.
   * @throws CommandRejected asset_not_found, asset_storage_unusable, bucket_unavailable, bucket_refused
   */
  return async ({ projectId, assetId, sha256 }: Answered, context: CommandContext) => {
    const { state } = await handler.load(assetAggregate, assetId);
    const seen = seenBy(await askBucket(existingAsset(state, projectId)));
    return recordAnswer({ projectId, assetId, sha256, seen }, context);
  };
}

/** Records what the bucket said, and returns the asset. */
export function makeRecordAnswer({ handler, assets }: Pick<AssetDeps, 'handler' | 'assets'>) {
  return async (
    { projectId, assetId, ...answer }: Answered & { readonly seen: SeenObject | null },
    context: CommandContext,
  ): Promise<Versioned<AssetResource>> => {
    const { documents } = await handler.handle(
      { aggregate: assetAggregate, id: assetId },
      { type: 'RecordAnswer', projectId, ...answer },
      context,
    );
    return assets.after(documents);
  };
}

/** @throws CommandRejected bucket_unavailable, bucket_refused */
export function seenBy(answer: HeadAnswer): SeenObject | null {
  switch (answer.kind) {
    case 'found':
      return answer.object;
    case 'missing':
      return null;
    case 'away':
      return rejectAsset('bucket_unavailable', 'the bucket did not answer, or reported an error; try again');
    case 'refused':
      return rejectAsset(
        'bucket_refused',
        'the bucket refused: the object is missing, or the access key may not read it; test the storage',
      );
  }
}
