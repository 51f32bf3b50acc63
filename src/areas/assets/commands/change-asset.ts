import type { AssetDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { assetAggregate, type ExistingAsset, existingAsset } from '../domain/asset/asset.js';
import type { AssetChanges } from '../domain/asset/changes.js';
import { checkAssetChanges } from '../domain/asset/description.js';
import { rejectAsset } from '../domain/asset/rejections.js';
import type { StorageConfiguration } from '../../storages/domain/storage/configuration-fields.js';
import { storageAggregate } from '../../storages/domain/storage/storage.js';
import type { Capacity } from './capacity.js';
import type { PayerOf } from '../../projects/commands/projects.js';
import type { AssetResource } from '../../../../projections/assets/assets/reader.js';

export interface AssetAddress {
  readonly projectId: string;
  readonly assetId: string;
}

export type AssetOptions = Pick<HandleOptions, 'expectedRevision'>;

/**
 * Changes the description of an asset; fields that are left out stay. A larger size counts toward the capacity of the
 * project's payer (src/areas/assets/README.md#capacity).
 * @throws CommandRejected asset_not_found, invalid_request, capacity_exceeded; PreconditionFailed
 */
export type ChangeAssetDescription = (
  input: AssetAddress & { readonly changes: AssetChanges },
  context: CommandContext,
  options?: AssetOptions,
) => Promise<Versioned<AssetResource>>;

export function makeChangeAssetDescription({
  handler,
  assets,
  capacity,
  payerOf,
}: Pick<AssetDeps, 'handler' | 'assets'> & {
  readonly capacity: Pick<Capacity, 'judged'>;
  readonly payerOf: PayerOf;
}): ChangeAssetDescription {
  return async ({ projectId, assetId, changes: given }, context, options) => {
    const changes = checkAssetChanges(given);
    const change = () =>
      handler.handle(
        { aggregate: assetAggregate, id: assetId },
        { type: 'Change', projectId, changes },
        context,
        options,
      );
    if (changes.size === undefined) return assets.after((await change()).documents);
    const { state } = await handler.load(assetAggregate, assetId);
    const bytes = changes.size - existingAsset(state, projectId).size;
    const payerId = await payerOf(projectId);
    const { documents } = await capacity.judged({ projectId, payerId, assetId, bytes }, context, change);
    return assets.after(documents);
  };
}

/**
 * Removes an asset. Its objects stay in the bucket, unless `deletesObjects`: then a reaction deletes them
 * (src/areas/assets/README.md#deleting-objects).
 * @throws CommandRejected asset_not_found, asset_storage_unusable; PreconditionFailed
 */
export type RemoveAsset = (
  input: AssetAddress & { readonly deletesObjects?: boolean },
  context: CommandContext,
  options?: AssetOptions,
) => Promise<void>;

export function makeRemoveAsset({
  handler,
  capacity,
}: Pick<AssetDeps, 'handler'> & { readonly capacity: Pick<Capacity, 'counted'> }): RemoveAsset {
  return async ({ projectId, assetId, deletesObjects = false }, context, options) => {
    const target = { aggregate: assetAggregate, id: assetId };
    const { state } = await handler.load(assetAggregate, assetId);
    const asset = existingAsset(state, projectId);
    const deleteFrom = deletesObjects ? await configurationOf(asset) : null;
    await capacity.counted(assetId, context, () =>
      handler.handle(target, { type: 'Remove', projectId, deleteFrom }, context, options),
    );
  };

  async function configurationOf({ storage_id }: ExistingAsset): Promise<StorageConfiguration> {
    const { state } = await handler.load(storageAggregate, storage_id);
    return state.status === 'absent' || state.status === 'deleted'
      ? rejectAsset('asset_storage_unusable', 'the storage is deleted: leave out ?object=delete')
      : state.configuration;
  }
}
