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

function changeOf(
  event: Recorded<AssetEvent>,
  before: readonly Recorded<AssetEvent>[] | null,
): TotalChange | 'read-stream' | null {
  const assetId = streamIdOf(event);
  if (event.type === 'AssetAdded') {
    return { total: event.data.project_id, entry: addingOf(assetId), bytes: bytesOfAsset(event.data) };
  }
  if (event.type !== 'AssetRemoved') return ofChange(assetId, event);
  const entry = removingOf(assetId);
  const { project_id, bytes } = event.data;
  if (project_id !== null && bytes !== null) return { total: project_id, entry, bytes: -bytes };
  if (before === null) return 'read-stream';
  const added = before.find(({ type }) => type === 'AssetAdded');
  if (added?.type !== 'AssetAdded') return null;
  return { total: added.data.project_id, entry, bytes: -bytesOfAsset(added.data) };
}

function ofChange(assetId: string, event: Recorded<AssetEvent>): TotalChange | null {
  if (!('capacity' in event.data) || event.data.capacity === null) return null;
  const { project_id: total, bytes } = event.data.capacity;
  return { total, entry: changingOf(assetId, event.metadata.command_id), bytes };
}
