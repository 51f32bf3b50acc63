import { assetAggregate, type ExistingAsset, existingAsset } from '../domain/asset/asset.js';
import type { Rendition } from '../domain/asset/events.js';
import { checkLanguage, checkRendition, type GivenRendition } from '../domain/asset/renditions.js';
import { isSameRendition } from '../domain/asset/fold.js';
import { keyRuleOf } from '../../storages/domain/bucket/object-key-rules.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import type { AssetResource } from '../../../../projections/assets/assets/reader.js';
import type { AssetDeps } from '../deps.js';
import type { Capacity } from './capacity.js';
import type { ObjectKeys } from './object-keys.js';
import type { PayerOf } from '../../projects/commands/projects.js';
import type { OpenAssetStorage } from './asset-storage.js';
import type { AssetAddress, AssetOptions } from './change-asset.js';

/**
 * Adds a rendition to an asset, or replaces the one of the same kind and language (docs/assets.md#renditions). It stores no
 * object. The change of its size counts toward the capacity of the project's payer.
 * @throws CommandRejected asset_not_found, asset_storage_unusable, invalid_request, rendition_limit_reached,
 * object_key_taken, capacity_exceeded; PreconditionFailed
 */
export type PutAssetRendition = (
  input: AssetAddress & { readonly rendition: GivenRendition },
  context: CommandContext,
  options?: AssetOptions,
) => Promise<Versioned<AssetResource>>;

/** Removes a rendition; its object stays in the bucket. @throws CommandRejected asset_not_found, rendition_not_found */
export type RemoveAssetRendition = (
  input: AssetAddress & { readonly kind: string; readonly language: string | null },
  context: CommandContext,
  options?: AssetOptions,
) => Promise<Versioned<AssetResource>>;

interface RenditionDeps extends Pick<AssetDeps, 'handler' | 'assets'> {
  readonly capacity: Capacity;
  readonly payerOf: PayerOf;
  readonly objectKeys: ObjectKeys;
  readonly openAssetStorage: OpenAssetStorage;
}

export function makePutAssetRendition(deps: RenditionDeps): PutAssetRendition {
  const { handler, assets, capacity, payerOf, objectKeys, openAssetStorage } = deps;
  return async ({ projectId, assetId, rendition: given }, context, options) => {
    const asset = existingAsset((await handler.load(assetAggregate, assetId)).state, projectId);
    const { provider, base_path: basePath } = (await openAssetStorage(asset)).storage.configuration;
    const rendition = checkRendition(given, keyRuleOf(provider, basePath));
    const put = () =>
      handler.handle(
        { aggregate: assetAggregate, id: assetId },
        { type: 'PutRendition', projectId, rendition },
        context,
        options,
      );
    const { commandId } = context;
    const objects = { storageId: asset.storage_id, assetId, keys: [rendition.object_key], commandId };
    const bytes = rendition.size - sizeOf(asset, rendition);
    const change = { projectId, payerId: await payerOf(projectId), assetId, bytes };
    const { documents } = await capacity.judged(change, context, () => objectKeys.claiming(objects, put));
    return assets.after(documents);
  };
}

export function makeRemoveAssetRendition({
  handler,
  assets,
  capacity,
}: Pick<RenditionDeps, 'handler' | 'assets' | 'capacity'>): RemoveAssetRendition {
  return async ({ projectId, assetId, kind, language: given }, context, options) => {
    existingAsset((await handler.load(assetAggregate, assetId)).state, projectId);
    const language = checkLanguage(kind, given, 'query.language');
    const { documents } = await capacity.counted(assetId, context, () =>
      handler.handle(
        { aggregate: assetAggregate, id: assetId },
        { type: 'RemoveRendition', projectId, kind, language },
        context,
        options,
      ),
    );
    return assets.after(documents);
  };
}

function sizeOf({ renditions }: ExistingAsset, wanted: Pick<Rendition, 'kind' | 'language'>): number {
  return renditions.find((one) => isSameRendition(one, wanted))?.size ?? 0;
}
