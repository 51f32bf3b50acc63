import type { ShareDeps } from '../../deps.js';
import { assetAggregate } from '../../../assets/domain/asset/asset.js';
import type { AssetDescription } from '../../../assets/domain/asset/events.js';
import { sameTag } from '../../../assets/domain/asset/fold.js';
import { sharedAssetsMax } from '../../domain/share/events.js';
import { type ExistingProject, projectAggregate } from '../../../projects/domain/project/project.js';
import { isProtected, type OpenShare } from '../../domain/share/share.js';
import type { StorageState } from '../../../storages/domain/storage/state.js';
import { storageAggregate } from '../../../storages/domain/storage/storage.js';

export interface SharedAsset {
  readonly assetId: string;
  readonly asset: AssetDescription;
}

/** The assets of a share that are served now, at least one. */
export interface SharedAssets {
  readonly project: ExistingProject;
  readonly served: readonly [SharedAsset, ...SharedAsset[]];
}

/**
 * Returns what a visitor may open, of a tag the newest 50: assets that are uploaded, not removed, and in a storage that is neither
 * disabled nor deleted. Null: nothing is served, the project is deleted, or it does not allow a share without a password. Makes the
 * same calls for an unknown token, so the time tells nothing.
 * @param only one asset of the share, where the others do not matter; of a tag it may be an older one
 * @throws StoreUnavailable
 */
export type FindSharedAssets = (share: OpenShare | null, only?: string) => Promise<SharedAssets | null>;

/** An id that names nothing: a UUIDv7 of 1970. */
export const nobodysId = '00000000-0000-7000-8000-000000000000';

export function makeFindSharedAssets({
  handler,
  assets,
}: Pick<ShareDeps, 'handler' | 'assets'>): FindSharedAssets {
  return async (share, only) => {
    const ids = share === null ? [nobodysId] : only === undefined ? await idsOf(share) : idsWith(share, only);
    const [project, ...found] = await Promise.all([
      handler.load(projectAggregate, share?.projectId ?? nobodysId),
      ...ids.map((assetId) => served(assetId, share)),
    ]);
    if (share === null || project.state.status !== 'existing') return null;
    if (!isProtected(share) && !project.state.open_shares) return null;
    const [first, ...others] = found.filter((asset) => asset !== null);
    return first === undefined ? null : { project: project.state, served: [first, ...others] };
  };

  /** The view finds the assets of a tag. An asset that has just got the tag may be missing for a moment. */
  async function idsOf({ projectId, assetIds, tag }: OpenShare): Promise<readonly string[]> {
    if (tag === null) return assetIds;
    const filter = { tag, upload: 'complete' } as const;
    const { items } = await assets.list(projectId, { filter, sort: '-created_at', limit: sharedAssetsMax });
    return items.map(({ id }) => id);
  }

  function idsWith({ assetIds, tag }: OpenShare, only: string): readonly string[] {
    return tag !== null || assetIds.includes(only) ? [only] : [];
  }

  async function served(
    assetId: string,
    share: Pick<OpenShare, 'projectId' | 'tag'> | null,
  ): Promise<SharedAsset | null> {
    const { state: asset } = await handler.load(assetAggregate, assetId);
    const storageId = asset.status === 'existing' ? asset.storage_id : nobodysId;
    const { state: storage } = await handler.load(storageAggregate, storageId);
    if (asset.status !== 'existing' || asset.project_id !== share?.projectId) return null;
    // The stream decides, so an asset that has lost the tag is out at once.
    if (share.tag !== null && !hasTag(asset, share.tag)) return null;
    return asset.upload === 'complete' && !servesNothing.has(storage.status) ? { assetId, asset } : null;
  }
}

function hasTag({ tags }: Pick<AssetDescription, 'tags'>, tag: string): boolean {
  return tags.some((one) => sameTag(one) === sameTag(tag));
}

const servesNothing: ReadonlySet<StorageState['status']> = new Set(['absent', 'deleted', 'disabled']);
