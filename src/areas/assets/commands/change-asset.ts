import type { AssetDeps } from '../deps.js';
import { type HandleOptions, requireRevision } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import {
  assetAggregate,
  type AssetCommand,
  type ExistingAsset,
  existingAsset,
} from '../domain/asset/asset.js';
import { type AssetChanges, checkAssetChanges } from '../domain/asset/changes.js';
import { isSameRendition } from '../domain/asset/fold.js';
import { rejectAsset } from '../domain/asset/rejections.js';
import { checkLanguage, checkRendition, type GivenRendition } from '../domain/asset/renditions.js';
import { keyRuleOf } from '../../storages/domain/bucket/bucket.js';
import type { StorageConfiguration } from '../../storages/domain/storage/events.js';
import { storageAggregate } from '../../storages/domain/storage/storage.js';
import type { OpenAssetStorage } from './add-asset.js';
import type { Capacity } from './capacity.js';
import type { ObjectKeys } from './object-keys.js';
import type { PayerOf } from '../../projects/commands/projects.js';
import type { AssetResource } from '../../../../projections/assets/assets/resource.js';

export type AssetAddress = { readonly projectId: string; readonly assetId: string };

type Options = Pick<HandleOptions, 'expectedRevision'>;

/** Makes the use cases that change an asset. Each throws CommandRejected asset_not_found; PreconditionFailed. */
export function makeChangingAssets(
  deps: AssetDeps & {
    readonly capacity: Capacity;
    readonly payerOf: PayerOf;
    readonly objectKeys: ObjectKeys;
    readonly openAssetStorage: OpenAssetStorage;
  },
) {
  const { handler, assets, capacity, payerOf, objectKeys, openAssetStorage } = deps;
  /** Loads the asset for what precedes its command. Only a missing asset precedes `If-Match`. */
  const load = async ({ projectId, assetId }: AssetAddress, options?: Options): Promise<ExistingAsset> => {
    const { state, revision } = await handler.load(assetAggregate, assetId);
    const asset = existingAsset(state, projectId);
    requireRevision(options?.expectedRevision, revision);
    return asset;
  };
  const handle = (assetId: string, command: AssetCommand, context: CommandContext, options?: Options) =>
    handler.handle(assetAggregate.at(assetId), command, context, options);
  return {
    /**
     * Changes the description; fields that are left out stay. A larger size counts toward the capacity of the project's payer
     * (src/areas/assets/README.md#capacity).
     * @throws CommandRejected invalid_request, capacity_exceeded
     */
    changeAssetDescription: async (
      { projectId, assetId, changes: given }: AssetAddress & { readonly changes: AssetChanges },
      context: CommandContext,
      options?: Options,
    ): Promise<Versioned<AssetResource>> => {
      const changes = checkAssetChanges(given);
      const change = () => handle(assetId, { type: 'Change', projectId, changes }, context, options);
      if (changes.size === undefined) return assets.after((await change()).documents);
      const bytes = changes.size - (await load({ projectId, assetId }, options)).size;
      const payerId = await payerOf(projectId);
      const { documents } = await capacity.judged({ projectId, payerId, assetId, bytes }, context, change);
      return assets.after(documents);
    },
    /**
     * Removes an asset. Its objects stay in the bucket, unless `deletesObjects`: then a reaction deletes them
     * (src/areas/assets/README.md#deleting-objects).
     * @throws CommandRejected asset_storage_unusable
     */
    removeAsset: async (
      { projectId, assetId, deletesObjects = false }: AssetAddress & { readonly deletesObjects?: boolean },
      context: CommandContext,
      options?: Options,
    ): Promise<void> => {
      const asset = await load({ projectId, assetId }, options);
      const deleteFrom = deletesObjects ? await configurationOf(asset) : null;
      const remove = { type: 'Remove', projectId, deleteFrom } as const;
      await capacity.counted(assetId, context, () => handle(assetId, remove, context, options));
    },
    /**
     * Adds a rendition, or replaces the one of the same kind and language (docs/assets.md#renditions). It stores no object.
     * The change of its size counts toward the capacity of the project's payer.
     * @throws CommandRejected asset_storage_unusable, invalid_request, rendition_limit_reached, object_key_taken,
     * capacity_exceeded
     */
    putAssetRendition: async (
      { projectId, assetId, rendition: given }: AssetAddress & { readonly rendition: GivenRendition },
      context: CommandContext,
      options?: Options,
    ): Promise<Versioned<AssetResource>> => {
      const asset = await load({ projectId, assetId }, options);
      const { provider, base_path: basePath } = (await openAssetStorage(asset)).storage.configuration;
      const rendition = checkRendition(given, keyRuleOf(provider, basePath));
      const put = () => handle(assetId, { type: 'PutRendition', projectId, rendition }, context, options);
      const { commandId } = context;
      const objects = { storageId: asset.storage_id, assetId, keys: [rendition.object_key], commandId };
      const replaced = asset.renditions.find((one) => isSameRendition(one, rendition));
      const bytes = rendition.size - (replaced?.size ?? 0);
      const change = { projectId, payerId: await payerOf(projectId), assetId, bytes };
      const { documents } = await capacity.judged(change, context, () => objectKeys.claiming(objects, put));
      return assets.after(documents);
    },
    /** Removes a rendition; its object stays in the bucket. @throws CommandRejected rendition_not_found */
    removeAssetRendition: async (
      input: AssetAddress & { readonly kind: string; readonly language: string | null },
      context: CommandContext,
      options?: Options,
    ): Promise<Versioned<AssetResource>> => {
      const { projectId, assetId, kind, language: given } = input;
      await load({ projectId, assetId }, options);
      const language = checkLanguage(kind, given, 'query.language');
      const remove = { type: 'RemoveRendition', projectId, kind, language } as const;
      const append = () => handle(assetId, remove, context, options);
      return assets.after((await capacity.counted(assetId, context, append)).documents);
    },
  };

  async function configurationOf({ storage_id }: ExistingAsset): Promise<StorageConfiguration> {
    const { state } = await handler.load(storageAggregate, storage_id);
    return state.status === 'absent' || state.status === 'deleted'
      ? rejectAsset('asset_storage_unusable', 'the storage is deleted: leave out ?object=delete')
      : state.configuration;
  }
}
