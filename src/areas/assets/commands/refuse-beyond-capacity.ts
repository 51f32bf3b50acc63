import type { AssetDeps } from '../deps.js';
import { rejectAsset } from '../domain/asset/rejections.js';

/**
 * Refuses an upload while the assets of the project's payer exceed the payer's capacity (src/areas/assets/README.md#capacity).
 * @throws CommandRejected capacity_exceeded
 */
export type RefuseBeyondCapacity = (projectId: string) => Promise<void>;

export function makeRefuseBeyondCapacity({ usage }: Pick<AssetDeps, 'usage'>): RefuseBeyondCapacity {
  return async (projectId) => {
    if (await usage.hasRoom(projectId)) return;
    rejectAsset(
      'capacity_exceeded',
      "the assets of the project's payer are larger than their capacity; remove some, or add capacity",
    );
  };
}
