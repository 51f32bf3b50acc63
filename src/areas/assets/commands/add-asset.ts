import type { AssetDeps } from '../deps.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { loadOfNew, derivedId } from '../../../event-sourcing/deciding/command-handler.js';
import { assetAggregate } from '../domain/asset/asset.js';
import { bytesOfAsset, keysOfAsset } from '../domain/asset/fold.js';
import { type AssetFacts, assetNameMax, checkAssetFacts, checkTag } from '../domain/asset/changes.js';
import { checkMediaType, checkSize } from '../domain/asset/upload.js';
import { checkKind } from '../domain/asset/renditions.js';
import { checkObjectKey, keyRuleOf, wholeKey, widestKeyRule } from '../../storages/domain/bucket/bucket.js';
import { checkName } from '../../../validation/text.js';
import { rejectAsset } from '../domain/asset/rejections.js';
import { type ExistingStorage, storageAggregate } from '../../storages/domain/storage/storage.js';
import type { ProjectAccess } from '../../../../projections/projects/projects/reader.js';
import type { UserAccess } from '../../../../projections/accounts/users/reader.js';
import type { Capacity } from './capacity.js';
import type { ObjectKeys } from './object-keys.js';
import type { AssetDescription } from '../domain/asset/events.js';

/**
 * Asks the bucket of an asset for the asset's own file (src/areas/assets/README.md#uploads).
 * @throws CommandRejected asset_storage_unusable; the errors of `OpenStorage.serving`; the signal's reason
 */
export type AskBucket = ReturnType<typeof makeAskBucket>;

export function makeAskBucket(deps: AssetDeps & { readonly openAssetStorage: OpenAssetStorage }) {
  const { headObject, openAssetStorage } = deps;
  return async (asset: Pick<AssetDescription, 'storage_id' | 'object_key'>, signal?: AbortSignal) => {
    const { storage, urls } = await openAssetStorage(asset);
    const { provider, base_path: basePath } = storage.configuration;
    return headObject({ urls, provider, key: wholeKey(basePath, asset.object_key) }, signal);
  };
}

/**
 * Opens the storage of an asset, unless it is disabled or deleted (src/areas/assets/README.md#rules-of-an-asset). It may be untested, because
 * signing needs no network.
 * @throws CommandRejected asset_storage_unusable; the errors of `OpenStorage.serving`
 */
export type OpenAssetStorage = ReturnType<typeof makeOpenAssetStorage>;

export function makeOpenAssetStorage(deps: Pick<AssetDeps, 'openStorage'>) {
  const { openStorage } = deps;
  return async ({ storage_id: storageId }: { readonly storage_id: string }) => {
    const opened = await openStorage.serving(storageId);
    if (opened === null)
      return rejectAsset('asset_storage_unusable', 'the storage that keeps the asset has been deleted');
    if (opened.storage.status === 'disabled')
      rejectAsset('asset_storage_unusable', 'the storage that keeps the asset is disabled');
    return opened;
  };
}

interface AddAssetInput extends AssetFacts {
  /** The project and the user of the request, as its gate has read them. */
  readonly project: Pick<ProjectAccess, 'id' | 'defaultStorageId' | 'document'>;
  readonly by?: UserAccess | undefined;
  /** Undefined: the project's default storage. */
  readonly storageId: string | undefined;
}

/** Checks what needs no store. The storage accepts fewer keys. @throws CommandRejected invalid_request */
export function checkNewAsset(facts: AssetFacts): void {
  checkAssetFacts(facts, widestKeyRule);
}

/** The rules of single fields, which name no field. @throws CommandRejected invalid_request */
export const assetRules = {
  name: (text: string) => checkName(text, '', assetNameMax),
  objectKey: (key: string) => checkObjectKey(key, '', widestKeyRule),
  mediaType: (text: string) => checkMediaType(text, ''),
  size: (bytes: number) => checkSize(bytes, ''),
  tag: (text: string) => checkTag(text, ''),
  kind: (text: string) => checkKind(text, ''),
} as const;

/**
 * Adds an asset to a project: its files and their storage. It stores no object; see `IssueUploadUrl`. The files count
 * toward the capacity of the project's payer from now on (src/areas/assets/README.md#capacity).
 * @throws CommandRejected no_default_storage, asset_storage_unusable, invalid_request,
 * capacity_exceeded, object_key_taken
 */
export function makeAddAsset(
  deps: AssetDeps & { readonly capacity: Pick<Capacity, 'judged'>; readonly objectKeys: ObjectKeys },
) {
  const { handler, assets, capacity, objectKeys } = deps;
  return async ({ project, by, storageId, ...facts }: AddAssetInput, context: CommandContext) => {
    const { id: projectId } = project;
    const { storage_id, storage } = await findStorage(project, storageId);
    const { provider, base_path: basePath } = storage.configuration;
    const assetId = derivedId(context, 'asset');
    const description = checkAssetFacts(facts, keyRuleOf(provider, basePath), assetId);
    const add = () =>
      handler.handle(
        assetAggregate.at(assetId),
        { type: 'Add', description: { project_id: projectId, storage_id, ...description } },
        context,
        loadOfNew(context),
      );
    const payerId = project.document.body.billed_to;
    const asset = { projectId, payerId, by, assetId, bytes: bytesOfAsset(description), isNew: true };
    // The key that begins with the id of the asset needs no claim.
    const keys = keysOfAsset(description).slice(facts.object_key === undefined ? 1 : 0);
    const objects = { storageId: storage_id, assetId, keys, commandId: context.commandId };
    const { documents } = await capacity.judged(asset, context, () => objectKeys.claiming(objects, add));
    return assets.after(documents);
  };

  async function findStorage(
    { id: projectId, defaultStorageId }: AddAssetInput['project'],
    named: string | undefined,
  ) {
    const id = named ?? defaultStorageId;
    const storage = id === null ? null : await storageOf(projectId, id);
    if (id === null || storage === null) {
      return named === undefined
        ? rejectAsset('no_default_storage', 'storage_id is missing, and the project has no default storage')
        : rejectAsset('asset_storage_unusable', 'storage_id names no storage of the project');
    }
    if (storage.status === 'disabled')
      rejectAsset('asset_storage_unusable', 'the storage is disabled; enable it first');
    return { storage_id: id, storage };
  }

  /** Returns null also for a deleted storage: a deleted default counts as none. */
  async function storageOf(projectId: string, id: string): Promise<ExistingStorage | null> {
    const { state } = await handler.load(storageAggregate, id);
    if (state.status === 'absent' || state.status === 'deleted') return null;
    return state.projectId === projectId ? state : null;
  }
}
