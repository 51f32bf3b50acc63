import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import { type AssetEvent, assetCategory, assetCodec } from '../../../src/areas/assets/domain/asset/events.js';
import {
  applyChange,
  applyUpload,
  isDeletionEvent,
  isMultipartEvent,
  isUploadEvent,
  newUpload,
} from '../../../src/areas/assets/domain/asset/fold.js';
import { type DeletionDocument, evolveDeletion } from './deletion.js';
import { type AssetIndexes, indexesOf } from './finding.js';
import type { AssetResource } from './resource.js';
import type { View, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';

type Stored = ViewDocument<AssetDocument | DeletionDocument>;

/** The view of assets without the documents of removed ones. */
export function assetsOf(
  views: Views,
): Pick<View<AssetDocument>, 'get' | 'getMany' | 'find' | 'findInOrder'> {
  const stored = views.of(assetsProjection);
  return {
    get: async (id, found) => {
      const document = await stored.get(id, found);
      return document !== null && isAsset(document) ? document : null;
    },
    getMany: async (ids) => (await stored.getMany(ids)).filter(isAsset),
    find: async (query) => (await stored.find(query)).filter(isAsset),
    findInOrder: async (query) => (await stored.findInOrder(query)).filter(isAsset),
  };
}

export function isAsset(document: Stored): document is ViewDocument<AssetDocument> {
  return 'by_name' in document.body;
}

export function isDeletion(document: Stored): document is ViewDocument<DeletionDocument> {
  return 'deletes_in' in document.body;
}

type AssetFields = Readonly<Omit<AssetResource, 'id'>>;
export type AssetDocument = AssetFields & AssetIndexes;

/** A removed asset has a document as long as its bucket holds objects that were to be deleted. */
type StoredAsset = AssetDocument | DeletionDocument;

function evolve(document: StoredAsset | null, event: Recorded<AssetEvent>): StoredAsset | null {
  if (isDeletionEvent(event))
    return evolveDeletion(document !== null && 'deletes_in' in document ? document : null, event);
  if (event.type === 'AssetAdded')
    return indexed({ ...event.data, ...newUpload, created_at: event.time, updated_at: event.time });
  if (document === null || event.type === 'AssetRemoved') return null;
  // The abort of an upload may follow the removal.
  if ('deletes_in' in document) return document;
  return evolveAsset(document, event);
}

function evolveAsset(
  document: AssetDocument,
  event: Exclude<Recorded<AssetEvent>, { type: 'AssetAdded' | 'AssetRemoved' | `AssetDeletion${string}` }>,
): AssetDocument {
  if (isUploadEvent(event)) {
    // A check that is due shows nothing yet.
    if (event.type === 'AssetUploadExpected' || event.type === 'AssetUploadChecksEnded') return document;
    return indexed({ ...document, ...applyUpload(document, event), updated_at: event.time });
  }
  if (isMultipartEvent(event)) return document;
  return indexed({ ...document, ...applyChange(document, event), updated_at: event.time });
}

function indexed(fields: AssetFields): AssetDocument {
  return { ...fields, ...indexesOf(fields) };
}

export const assetsProjection: Projection<StoredAsset, AssetEvent> = {
  name: 'assets',
  version: 5,
  category: assetCategory,
  codec: assetCodec,
  indexes: ['project_id', 'storage_id', 'found_by', 'by_name', 'by_size', 'object_places', 'deletes_in'],
  evolve,
};
