import { assetCodec, type AssetEvent, assetCategory } from '../../../src/areas/assets/domain/asset/events.js';
import {
  addingOf,
  bytesOfAsset,
  changingOf,
  removingOf,
} from '../../../src/areas/assets/domain/asset/status.js';
import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import { streamIdOf } from '../../../src/event-sourcing/ports/stream-name.js';
import type { Tally, TotalChange } from '../../../src/event-sourcing/views/projection.js';

/** What the assets of a project use, in bytes, by project id. */
export const usageTally: Tally<AssetEvent> = {
  name: 'usage',
  version: 2,
  category: assetCategory,
  codec: assetCodec,
  indexes: [],
  changeOf,
};

function changeOf(event: Recorded<AssetEvent>): TotalChange | null {
  const assetId = streamIdOf(event);
  if (event.type === 'AssetAdded') {
    return { total: event.data.project_id, entry: addingOf(assetId), bytes: bytesOfAsset(event.data) };
  }
  if (event.type === 'AssetRemoved') {
    const { project_id: total, bytes } = event.data;
    return { total, entry: removingOf(assetId), bytes: -bytes };
  }
  return ofChange(assetId, event);
}

function ofChange(assetId: string, event: Recorded<AssetEvent>): TotalChange | null {
  if (!('capacity' in event.data) || event.data.capacity === null) return null;
  const { project_id: total, bytes } = event.data.capacity;
  return { total, entry: changingOf(assetId, event.metadata.command_id), bytes };
}
