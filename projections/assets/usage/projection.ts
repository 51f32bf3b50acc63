import { assetCodec, type AssetEvent, assetCategory } from '../../../src/areas/assets/domain/asset/events.js';
import { bytesOfAsset } from '../../../src/areas/assets/domain/asset/fold.js';
import type { Tally, TotalChange } from '../../../src/event-sourcing/views/projection.js';

/** What the assets of a project use, in bytes, by project id. */
export const usageTally: Tally<AssetEvent> = {
  name: 'usage',
  version: 3,
  category: assetCategory,
  codec: assetCodec,
  indexes: [],
  changeOf,
};

function changeOf({ type, data }: AssetEvent): TotalChange | null {
  if (type === 'AssetAdded') return { total: data.project_id, bytes: bytesOfAsset(data) };
  if (type === 'AssetRemoved') return { total: data.project_id, bytes: -data.bytes };
  if (!('capacity' in data) || data.capacity === null) return null;
  return { total: data.capacity.project_id, bytes: data.capacity.bytes };
}
