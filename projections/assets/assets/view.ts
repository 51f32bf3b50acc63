import type { View, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import type { DeletionDocument } from './deletion.js';
import { type AssetDocument, assetsProjection } from './projection.js';

type Stored = ViewDocument<AssetDocument | DeletionDocument>;

/** The view of assets without the documents of removed ones. */
export function assetsOf(
  views: Views,
): Pick<View<AssetDocument>, 'get' | 'getMany' | 'find' | 'findInOrder'> {
  const stored = views.of(assetsProjection);
  return {
    get: async (id) => {
      const document = await stored.get(id);
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
