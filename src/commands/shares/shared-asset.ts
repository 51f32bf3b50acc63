import type { Deps } from '../deps.js';
import { assetAggregate } from '../../domain/asset/asset.js';
import type { AssetDescription } from '../../domain/asset/events.js';
import { projectAggregate } from '../../domain/project/project.js';
import type { OpenShare } from '../../domain/share/share.js';
import type { StorageState } from '../../domain/storage/state.js';
import { storageAggregate } from '../../domain/storage/storage.js';

export interface SharedAsset {
  readonly assetId: string;
  readonly asset: AssetDescription;
}

/**
 * Finds the asset of a share; null where the asset is removed, the project deleted, or the storage disabled or deleted.
 * All cases, also without a share, make the same store calls, so that the reply time does not tell them apart.
 * @throws StoreUnavailable
 */
export type FindSharedAsset = (
  share: Pick<OpenShare, 'projectId' | 'assetId'> | null,
) => Promise<SharedAsset | null>;

/** An id that names nothing: a UUIDv7 of 1970. */
export const nobodysId = '00000000-0000-7000-8000-000000000000';

export function makeFindSharedAsset({ handler }: Pick<Deps, 'handler'>): FindSharedAsset {
  return async (share) => {
    const [asset, project] = await Promise.all([
      handler.load(assetAggregate, share?.assetId ?? nobodysId),
      handler.load(projectAggregate, share?.projectId ?? nobodysId),
    ]);
    const storageId = asset.state.status === 'existing' ? asset.state.storage_id : nobodysId;
    const storage = await handler.load(storageAggregate, storageId);
    if (share === null || asset.state.status !== 'existing' || project.state.status !== 'existing')
      return null;
    const { projectId, assetId } = share;
    const isServed = asset.state.project_id === projectId && !servesNothing.has(storage.state.status);
    return isServed ? { assetId, asset: asset.state } : null;
  };
}

const servesNothing: ReadonlySet<StorageState['status']> = new Set(['absent', 'deleted', 'disabled']);
