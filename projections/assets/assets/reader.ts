import { RemovedSince } from '../../../src/event-sourcing/ports/errors.js';
import type {
  FoundDocument,
  Page,
  Versioned,
  View,
  ViewDocument,
  Views,
} from '../../../src/event-sourcing/views/views.js';
import { type DocumentsAfter, documentAfter, resourceOf } from '../../resource-of.js';
import { type AssetFilter, findingMark, makeMatches, objectPlace, pastSortKeys, sortKey } from './finding.js';
import type { DeletionDocument } from './deletion.js';
import { type AssetDocument, assetsOf, assetsProjection, isAsset, isDeletion } from './projection.js';
import type { UndeletedResource } from '../../storages/storage-configs/resource.js';
import { type AssetResource, type AssetSort, assetResource } from './resource.js';
import {
  type FilteredPage,
  type OrderedList,
  lastIdOf,
  matchingPage,
  pageFrom,
} from '../../filtered-page.js';

/** A page of a project's assets. */
interface AssetQuery {
  readonly filter: AssetFilter;
  readonly sort: AssetSort;
  readonly limit: number;
  /** `next` of the page before. */
  readonly after?: string | undefined;
}

/** The documents of assets in one order. A position is the last document's: its id, or its id and value. */
type Order = Omit<OrderedList<ViewDocument<AssetDocument>>, 'matches'>;

/**
 * Lists a project's assets. It reads the index that the filter and the order allow, and compares each document with the
 * whole filter.
 */
export async function listAssets(
  view: Pick<View<AssetDocument>, 'find' | 'findInOrder'>,
  projectId: string,
  { filter, sort, limit, after }: AssetQuery,
): Promise<FilteredPage<ViewDocument<AssetDocument>>> {
  const order = sort.endsWith('created_at')
    ? byCreation(view, projectId, filter, sort.startsWith('-'))
    : byField(view, projectId, sort);
  const matches = makeMatches(filter);
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return matchingPage(pageFrom(after, limit), {
    ...order,
    matches: isFiltered ? ({ body }) => matches(body) : null,
  });
}

function byCreation(
  view: Pick<View<AssetDocument>, 'find'>,
  projectId: string,
  filter: AssetFilter,
  descending: boolean,
): Order {
  const mark = findingMark(projectId, filter);
  const where =
    mark === null ? { field: 'project_id', equals: projectId } : { field: 'found_by', equals: mark };
  const from = filter.created_after === undefined ? null : new Date(filter.created_after);
  // Without an earlier page, the oldest first begin where the filter does.
  const start = from === null || descending ? undefined : lastIdOf(from);
  return {
    read: ({ after = start, limit }) => view.find({ where, descending, ...pageFrom(after, limit) }),
    positionOf: ({ id }) => id,
    // Ids are in the order of creation.
    isPast: ({ body }) => descending && from !== null && Date.parse(body.created_at) <= from.getTime(),
  };
}

const fields = { name: 'by_name', size: 'by_size' } as const;
const idLength = 36;

function byField(view: Pick<View<AssetDocument>, 'findInOrder'>, projectId: string, sort: AssetSort): Order {
  const descending = sort.startsWith('-');
  const field = fields[sort.endsWith('name') ? 'name' : 'size'];
  const first = { value: descending ? pastSortKeys(projectId) : sortKey(projectId, ''), id: '' };
  return {
    read: ({ after, limit }) =>
      view.findInOrder({
        ...{ orderBy: field, descending, limit },
        after:
          after === undefined
            ? first
            : { id: after.slice(0, idLength), value: sortKey(projectId, after.slice(idLength)) },
      }),
    positionOf: ({ id, body }) => id + body[field].slice(sortKey(projectId, '').length),
    // The index holds the assets of all projects.
    isPast: ({ body }) => body.project_id !== projectId,
  };
}

/** @throws StoreUnavailable */
export type AssetReader = ReturnType<typeof makeAssetReader>;

/** The position of an item in the list is the id of its asset. */
type UndeletedItem = UndeletedResource & { readonly id: string };

export function makeAssetReader({ views }: { readonly views: Views }) {
  const stored = views.of(assetsProjection);
  const assets = assetsOf(views);
  return {
    wanted: (id: string) => ({ projection: assetsProjection, id }),
    /** Returns null if the project does not have the asset. @param found see `View.get` */
    find: async (projectId: string, assetId: string, found?: FoundDocument) => {
      const document = await assets.get(assetId, found);
      return document?.body.project_id === projectId ? present(document) : null;
    },
    /** Returns those of the assets that the project has, by id. */
    findMany: async (projectId: string, assetIds: readonly string[]) => {
      const documents = await assets.getMany(assetIds);
      const own = documents.filter(({ body }) => body.project_id === projectId);
      return new Map(own.map((document) => [document.id, present(document).resource]));
    },
    /** Lists the project's assets that match the filter (docs/assets.md#find-assets). */
    list: async (projectId: string, query: AssetQuery) => {
      const { items: found, next } = await listAssets(assets, projectId, query);
      return { items: found.map((document) => present(document).resource), next };
    },
    /** Returns the asset after a command. @throws RemovedSince */
    after: (documents: DocumentsAfter) => {
      const document = documentAfter(assetsProjection, documents);
      if (!isAsset(document)) throw new RemovedSince();
      return present(document);
    },
    /** Returns whether the storage contains an asset. */
    hasIn: async (storageId: string) => {
      const where = { field: 'storage_id', equals: storageId };
      return (await assets.find({ where, limit: 1 })).length > 0;
    },
    /**
     * Returns the ids of the assets that have the object, or a rendition of it, in the storage, and of the removed assets of
     * which the service still deletes it; at most 10.
     */
    withObject: (storageId: string, objectKey: string) =>
      stored.ids({ where: { field: 'object_places', equals: objectPlace(storageId, objectKey) }, limit: 10 }),
    /**
     * Returns which of the objects of a storage assets have, and which the service deletes. One call reads all of it.
     * `object`: an asset's own file as the bucket last reported it; null of any other.
     * @param objectKeys at most 600: three readings of each object of a page
     */
    holding: async (storageId: string, objectKeys: readonly string[]) => {
      const places = new Map(objectKeys.map((key) => [objectPlace(storageId, key), key]));
      const where = { field: 'object_places', anyOf: [...places.keys()] };
      const documents = await stored.find({ where, limit: objectKeys.length });
      return new Map(
        documents.flatMap((document) =>
          document.body.object_places.flatMap((at) => {
            const key = places.get(at);
            return key === undefined ? [] : [[key, heldBy(document, key)] as const];
          }),
        ),
      );
    },
    /** Lists the removed assets whose objects were to be deleted from the storage and are still there, newest first. */
    undeletedIn: async (storageId: string, page: Page) => {
      const where = { field: 'deletes_in', equals: storageId };
      const documents = await stored.find({ where, descending: true, ...page });
      return documents.filter(isDeletion).map(presentUndeleted);
    },
  };
}

function heldBy(document: ViewDocument<AssetDocument | DeletionDocument>, objectKey: string) {
  if (!isAsset(document)) return { reason: 'being_deleted', object: null } as const;
  const { object_key, object } = document.body;
  return { reason: 'already_an_asset', object: object_key === objectKey ? object : null } as const;
}

function present({ id, revision, body }: ViewDocument<AssetDocument>): Versioned<AssetResource> {
  return { revision, resource: resourceOf(assetResource, { id, ...body }) };
}

function presentUndeleted({ id, body }: ViewDocument<DeletionDocument>): UndeletedItem {
  const { left, kept, next_attempt_at, removed_at } = body;
  const inUse = kept.map((object_key) => ({ object_key, cause: 'object_in_use', provider_code: null }));
  return { id, asset_id: id, objects: [...left, ...inUse], next_attempt_at, removed_at };
}
