import type { Page, Versioned, ViewDocument, Views } from '../../src/event-sourcing/views.js';
import { documentAfter, type DocumentsAfter } from '../after-command.js';
import { type AssetDocument, assetsProjection } from './projection.js';

/** An asset as members see it (DESIGN 4.4). */
export type AssetResource = {
  readonly id: string;
  readonly project_id: string;
  readonly storage_id: string;
  readonly name: string;
  readonly object_key: string;
  readonly media_type: string;
  /** Bytes. */
  readonly size: number;
  readonly renditions: AssetDocument['renditions'][number][];
  readonly created_at: string;
  readonly updated_at: string;
};

/** @throws StoreUnavailable */
export interface AssetReader {
  /** Null when the project has no such asset. */
  find(projectId: string, assetId: string): Promise<Versioned<AssetResource> | null>;
  /** The project's assets, newest first. */
  list(projectId: string, page: Page): Promise<readonly Versioned<AssetResource>[]>;
  /** The asset as a command left it. */
  after(documents: DocumentsAfter): Versioned<AssetResource>;
  /** Whether any asset is kept in the storage. */
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
  const { project_id, storage_id, name, object_key, media_type, size } = body;
  const { created_at, updated_at } = body;
  const resource = { id, project_id, storage_id, name, object_key, media_type, size };
  return { revision, resource: { ...resource, renditions: [...body.renditions], created_at, updated_at } };
}
