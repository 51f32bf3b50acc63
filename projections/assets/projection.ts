import type { Recorded } from '../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../src/event-sourcing/views/projection.js';
import { assetCodec, type AssetEvent, assetCategory } from '../../src/domain/asset/events.js';
import type { AssetResource } from './resource.js';

export type AssetDocument = Readonly<Omit<AssetResource, 'id'>>;

function evolve(document: AssetDocument | null, event: Recorded<AssetEvent>): AssetDocument | null {
  if (event.type === 'AssetAdded') {
    return { ...event.data, created_at: event.time, updated_at: event.time };
  }
  if (document === null || event.type === 'AssetRemoved') return null;
  return { ...document, name: event.data.name, updated_at: event.time };
}

export const assetsProjection: Projection<AssetDocument, AssetEvent> = {
  name: 'assets',
  version: 2,
  category: assetCategory,
  codec: assetCodec,
  indexes: ['project_id', 'storage_id'],
  evolve,
};
