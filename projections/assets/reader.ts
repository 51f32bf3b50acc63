import type { Page, Versioned, ViewDocument, Views } from '../../src/event-sourcing/views/views.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { type AssetDocument, assetsProjection } from './projection.js';
import { resourceOf } from '../resource-of.js';
import { assetResource, type AssetResource } from './resource.js';

export type { AssetResource } from './resource.js';

/** @throws StoreUnavailable */
export interface AssetReader {
  /** Returns null if the project does not have the asset. */
  find(projectId: string, assetId: string): Promise<Versioned<AssetResource> | null>;
  /** Lists the project's assets, newest first. */
  list(projectId: string, page: Page): Promise<readonly Versioned<AssetResource>[]>;
  /** Returns the asset after a command. */
  after(documents: DocumentsAfter): Versioned<AssetResource>;
  /** Returns whether the storage contains an asset. */
  hasIn(storageId: string): Promise<boolean>;
}

export function makeAssetReader({ views }: { readonly views: Views }): AssetReader {
  const assets = views.of(assetsProjection);
  return {
    find: async (projectId, assetId) => {
      const document = await assets.get(assetId);
      return document?.body.project_id === projectId ? present(document) : null;
    },
    list: async (projectId, page) => {
      const where = { field: 'project_id', equals: projectId };
      return (await assets.find({ where, descending: true, ...page })).map(present);
    },
    after: (documents) => present(documentAfter(assetsProjection, documents)),
    hasIn: async (storageId) => {
      const where = { field: 'storage_id', equals: storageId };
      return (await assets.find({ where, limit: 1 })).length > 0;
    },
  };
}

function present({ id, revision, body }: ViewDocument<AssetDocument>): Versioned<AssetResource> {
  return { revision, resource: resourceOf(assetResource, { id, ...body }) };
}
