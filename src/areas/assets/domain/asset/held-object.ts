import type { AssetState } from './asset.js';
import { rejectAsset } from './rejections.js';
import { keysOfAsset } from './fold.js';

/** The command of a claim for a deletion. */
export const deletionClaim = 'delete-object';

/**
 * Says whether an asset keeps an object of a storage from others (src/areas/assets/README.md#object-keys): it has the object, its command is
 * getting the object, or the object is being deleted. Null: it does not.
 * @param claimedBy the command that claimed the object for the asset in the last minute; null where none did
 */
export function holdOn(
  state: AssetState,
  object: { readonly storageId: string; readonly key: string },
  claimedBy: string | null,
): 'has' | 'deletes' | null {
  const names = (storageId: string, keys: readonly string[]): boolean =>
    storageId === object.storageId && keys.includes(object.key);
  switch (state.status) {
    case 'absent':
      return claimedBy === null ? null : 'has';
    case 'existing': {
      // The state is read after the claim, so it shows the command of the claim if that has ended.
      const gets = claimedBy !== null && !state.lastCommands.includes(claimedBy);
      return gets || names(state.storage_id, keysOfAsset(state)) ? 'has' : null;
    }
    case 'removed': {
      const isOpen = state.deletion !== null && names(state.deletion.storage_id, state.deletion.object_keys);
      return isOpen || claimedBy === deletionClaim ? 'deletes' : null;
    }
  }
}

/** @throws CommandRejected object_key_taken */
export function rejectHeld(assetId: string, held: 'has' | 'deletes'): never {
  return rejectAsset(
    'object_key_taken',
    held === 'has'
      ? `the asset ${assetId} of this storage has this object_key already`
      : `the object of the removed asset ${assetId} is being deleted; see undeleted-objects of the storage`,
  );
}
