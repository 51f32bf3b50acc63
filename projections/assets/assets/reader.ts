import type { Page, Versioned, ViewDocument, Views } from '../../../src/event-sourcing/views/views.js';
import { documentAfter, type DocumentsAfter } from '../../after-command.js';
import { objectPlace } from './finding.js';
import { type AssetQuery, listAssets } from './list.js';
import type { DeletionDocument } from './deletion.js';
import { type AssetDocument, assetsProjection } from './projection.js';
import { assetsOf, isAsset, isDeletion } from './view.js';
import { resourceOf } from '../../resource-of.js';
import type { UndeletedResource } from '../../storages/storage-configs/resource.js';
import { assetResource, type AssetResource } from './resource.js';

export type { AssetResource } from './resource.js';

/** @throws StoreUnavailable */
export interface AssetReader {
  /** Returns null if the project does not have the asset. */
  find(projectId: string, assetId: string): Promise<Versioned<AssetResource> | null>;
  /** Returns those of the assets that the project has, by id. */
  findMany(projectId: string, assetIds: readonly string[]): Promise<ReadonlyMap<string, AssetResource>>;
  /** Lists the project's assets that match the filter (docs/assets.md#find-assets). */
  list(
    projectId: string,
    query: AssetQuery,
  ): Promise<{ readonly items: AssetResource[]; readonly next: string | null }>;
  /** Returns the asset after a command. */
  after(documents: DocumentsAfter): Versioned<AssetResource>;
  /** Returns whether the storage contains an asset. */
  hasIn(storageId: string): Promise<boolean>;
  /**
   * Returns the ids of the assets that have the object, or a rendition of it, in the storage, and of the removed assets of
   * which the service still deletes it; at most 10.
   */
  withObject(storageId: string, objectKey: string): Promise<readonly string[]>;
  /**
   * Returns which of the objects of a storage assets have, and which the service deletes. One call reads all of it.
   * @param objectKeys at most 600: three readings of each object of a page
   */
  holding(
    storageId: string,
    objectKeys: readonly string[],
  ): Promise<ReadonlyMap<string, 'already_an_asset' | 'being_deleted'>>;
  /** Lists the removed assets whose objects were to be deleted from the storage and are still there, newest first. */
  undeletedIn(storageId: string, page: Page): Promise<readonly UndeletedItem[]>;
}

/** The place of an item in the list is the id of its asset. */
type UndeletedItem = UndeletedResource & { readonly id: string };

export function makeAssetReader({ views }: { readonly views: Views }): AssetReader {
  const stored = views.of(assetsProjection);
  const assets = assetsOf(views);
  return {
    find: async (projectId, assetId) => {
      const document = await assets.get(assetId);
      return document?.body.project_id === projectId ? present(document) : null;
    },
    findMany: async (projectId, assetIds) => {
      const documents = await assets.getMany(assetIds);
      const own = documents.filter(({ body }) => body.project_id === projectId);
      return new Map(own.map((document) => [document.id, present(document).resource]));
    },
    list: async (projectId, query) => {
      const { items: found, next } = await listAssets(assets, projectId, query);
      return { items: found.map((document) => present(document).resource), next };
    },
    after: (documents) => {
      const document = documentAfter(assetsProjection, documents);
      if (!isAsset(document)) throw new Error('the command removed the asset');
      return present(document);
    },
    hasIn: async (storageId) => {
      const where = { field: 'storage_id', equals: storageId };
      return (await assets.find({ where, limit: 1 })).length > 0;
    },
    withObject: (storageId, objectKey) =>
      stored.ids({ where: { field: 'object_places', equals: objectPlace(storageId, objectKey) }, limit: 10 }),
    holding: async (storageId, objectKeys) => {
      const places = new Map(objectKeys.map((key) => [objectPlace(storageId, key), key]));
      const where = { field: 'object_places', anyOf: [...places.keys()] };
      const documents = await stored.find({ where, limit: objectKeys.length });
      return new Map(
        documents.flatMap((document) =>
          document.body.object_places.flatMap((at) => {
            const key = places.get(at);
            return key === undefined
              ? []
              : [[key, isAsset(document) ? 'already_an_asset' : 'being_deleted'] as const];
          }),
        ),
      );
    },
    undeletedIn: async (storageId, page) => {
      const where = { field: 'deletes_in', equals: storageId };
      const documents = await stored.find({ where, descending: true, ...page });
      return documents.filter(isDeletion).map(presentUndeleted);
    },
  };
}

function present({ id, revision, body }: ViewDocument<AssetDocument>): Versioned<AssetResource> {
  return { revision, resource: resourceOf(assetResource, { id, ...body }) };
}

function presentUndeleted({ id, body }: ViewDocument<DeletionDocument>): UndeletedItem {
  const { left, kept, next_attempt_at, removed_at } = body;
  const inUse = kept.map((object_key) => ({ object_key, cause: 'object_in_use', provider_code: null }));
  return { id, asset_id: id, objects: [...left, ...inUse], next_attempt_at, removed_at };
}
