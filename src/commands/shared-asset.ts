import type { CommandHandler } from '../event-sourcing/command-handler.js';
import { assetAggregate } from '../domain/asset/asset.js';
import type { AssetDescription } from '../domain/asset/events.js';
import { projectAggregate } from '../domain/project/project.js';
import type { OpenShare } from '../domain/share/share.js';
import type { StorageState } from '../domain/storage/state.js';
import { storageAggregate } from '../domain/storage/storage.js';

/** What is behind a share, while it can be served. */
export interface SharedAsset {
  readonly assetId: string;
  readonly asset: AssetDescription;
}

/**
 * Finds what a share serves: null where its asset was removed, its project deleted, or its storage disabled or deleted. It
 * asks the stores the same whatever it finds, also of no share at all, so that its time tells none of these apart.
 * @throws StoreUnavailable
 */
export type FindSharedAsset = (
  share: Pick<OpenShare, 'projectId' | 'assetId'> | null,
) => Promise<SharedAsset | null>;

/** Names nothing: a UUIDv7 of 1970 that nobody draws. */
export const nobodysId = '00000000-0000-7000-8000-000000000000';

export function makeFindSharedAsset({
  handler,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
}): FindSharedAsset {
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
