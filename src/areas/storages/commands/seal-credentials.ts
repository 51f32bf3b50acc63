import type { StorageDeps } from '../deps.js';
import type { Sealed } from '../../../event-sourcing/ports/sealed.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import { KeyDestroyed } from '../../../keys/sealing/errors.js';

/**
 * Seals one version of a storage's credentials under a separate data key, each value under its name.
 * @throws CommandRejected storage_not_found once the storage is deleted; StoreUnavailable
 */
export type SealCredentials = (
  whose: { readonly projectId: string; readonly storageId: string; readonly version: number },
  clear: ReadonlyMap<string, string>,
) => Promise<Readonly<Record<string, Sealed>>>;

export function makeSealCredentials({ sealer }: Pick<StorageDeps, 'sealer'>): SealCredentials {
  return async (whose, clear) => {
    const sealed: Record<string, Sealed> = {};
    try {
      for (const [name, value] of clear) {
        sealed[name] = await sealer.seal({ kind: 'storage-credentials', ...whose }, name, value);
      }
    } catch (error) {
      if (!(error instanceof KeyDestroyed)) throw error;
      return rejectStorage('storage_not_found', 'there is no such storage any more');
    }
    return sealed;
  };
}
