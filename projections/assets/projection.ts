import type { Recorded } from '../../src/event-sourcing/domain-event.js';
import type { Projection } from '../../src/event-sourcing/projection.js';
import { assetCodec, type AssetEvent, type Rendition } from '../../src/domain/asset/events.js';
import { assetCategory } from '../../src/domain/asset/stream.js';

export type AssetDocument = {
  readonly project_id: string;
  readonly storage_id: string;
  readonly name: string;
  /** Below the storage's base path. */
  readonly object_key: string;
  readonly media_type: string;
  /** Bytes. */
  readonly size: number;
  readonly renditions: readonly Rendition[];
  readonly created_at: string;
  readonly updated_at: string;
};

function evolve(document: AssetDocument | null, event: Recorded<AssetEvent>): AssetDocument | null {
  if (event.type === 'AssetAdded') {
    return { ...event.data, created_at: event.time, updated_at: event.time };
  }
  if (document === null || event.type === 'AssetRemoved') return null;
  return { ...document, name: event.data.name, updated_at: event.time };
}

export const assetsProjection: Projection<AssetDocument, AssetEvent> = {
  name: 'assets',
  version: 1,
  category: assetCategory,
  codec: assetCodec,
  indexes: ['project_id', 'storage_id'],
  evolve,
};
