import type { Document, Filter } from 'mongodb';
import { z } from 'zod';

import type {
  DocumentName,
  DocumentQuery,
  IdQuery,
  OrderedQuery,
  SelectedDocuments,
  SelectingQuery,
  StoredDocument,
} from '../../../event-sourcing/ports/read-model-store.js';
import { decodeBody, parseStored, storedPath } from './body-fields.js';
import { type Calls, type ReadOptions, upkeep } from '../calls/calls.js';
import type { DatabaseCommands } from '../calls/commands.js';
import { gatherReads } from './gathered-reads.js';

type StringId = Filter<{ _id: string; [field: string]: unknown }>;

const storedDocument = z.object({
  _id: z.string(),
  revision: z.bigint(),
  // `decodeBody` checks the values. A schema would copy the body.
  body: z.custom<object | null>((body) => typeof body === 'object' && !Array.isArray(body)),
});

const storedId = z.object({ _id: z.string() });

const idsUp = { _id: 1 } as const;

/** The number of documents that one command reads by id, so that large ones arrive within the limit of a read. */
const partMax = 100;

/** As `partMax`, for reads that share a command: one with a large document keeps few others waiting. */
const gatheredPartMax = 20;

/** Reads the documents of one collection, in order of id unless the query names another order. */
export function makeDocumentQueries({
  calls,
  commands,
  upkeepOf,
}: {
  readonly calls: Calls;
  readonly commands: DatabaseCommands;
  /** The collection whose reads keep the process going: no request waits for a permit before them. */
  readonly upkeepOf: string;
}) {
  const optionsOf = (collection: string): ReadOptions => (collection === upkeepOf ? upkeep : {});

  async function query(
    collection: string,
    filter: StringId,
    { limit, sort = idsUp }: { readonly limit: number; readonly sort?: Record<string, 1 | -1> },
  ): Promise<readonly StoredDocument[]> {
    // The server treats a limit of 0 as no limit.
    if (limit < 1) return [];
    const found = await calls.read(
      `read of ${collection}`,
      async (attempt) => commands.find(collection, filter, { sort, limit }, attempt),
      optionsOf(collection),
    );
    return found.map((document) => decodeDocument(collection, document));
  }

  /** Reads documents by id, in commands of a bounded size that are sent at once. */
  async function readByIds(
    collection: string,
    ids: readonly string[],
    { max, ...options }: ReadOptions & { readonly max: number },
  ): Promise<readonly Document[]> {
    const parts: (readonly string[])[] = [];
    for (let from = 0; from < ids.length; from += max) parts.push(ids.slice(from, from + max));
    const found = await Promise.all(
      parts.map((part) =>
        calls.read(
          `read of ${collection}`,
          (attempt) =>
            commands.find(collection, { _id: { $in: [...part] } }, { limit: part.length }, attempt),
          options,
        ),
      ),
    );
    return found.flat();
  }

  const gather = gatherReads({
    readApart: getEach,
    readTogether: async (collection, ids) => {
      const found = await readByIds(collection, ids, { max: gatheredPartMax });
      return new Map(found.map((document) => [String(document['_id']), once(collection, document)]));
    },
  });

  async function get(collection: string, id: string): Promise<StoredDocument | null> {
    return (await query(collection, { _id: id }, { limit: 1 }))[0] ?? null;
  }

  /** Joins the other documents to the first. Without the first there is nothing to join to, so it reads the others. */
  async function getEach(names: readonly DocumentName[]): Promise<readonly (StoredDocument | null)[]> {
    const [first, ...others] = names;
    if (first === undefined) return [];
    if (others.length === 0) return [await get(first.collection, first.id)];
    const found = await calls.read(`read of ${first.collection}`, async (attempt) =>
      commands.aggregate(first.collection, joinById(first.id, others), { limit: 1 }, attempt),
    );
    // Too large for one reply
    if (found === null) return Promise.all(names.map(({ collection, id }) => get(collection, id)));
    const [joined] = found;
    if (joined === undefined) return [null, ...(await getEach(others))];
    return names.map(({ collection }, index) => {
      const joinedHere: unknown = joined[foundAt(index)];
      const document: unknown = Array.isArray(joinedHere) ? joinedHere[0] : joinedHere;
      return document === undefined ? null : decodeDocument(collection, document as Document);
    });
  }

  async function selectIds(
    collection: string,
    { where, after, descending = false, limit }: IdQuery,
  ): Promise<readonly string[]> {
    // The server treats a limit of 0 as no limit.
    if (limit < 1) return [];
    // The index of the field holds all that the command needs: a tombstone has no fields.
    const options = { limit, sort: idOrder(descending), projection: { _id: 1 } } as const;
    const found = await calls.read(`read of ${collection}`, async (attempt) =>
      commands.find(collection, { ...idAfter(after, descending), ...holding(where) }, options, attempt),
    );
    return found.map((document) => idOf(collection, document));
  }

  // Projectors read in this way. A request that waits for a document waits for them.
  async function getMany(collection: string, ids: readonly string[]): Promise<readonly StoredDocument[]> {
    const found = await readByIds(collection, ids, { max: partMax, urgent: true, ...optionsOf(collection) });
    return found.map((document) => decodeDocument(collection, document));
  }

  async function getSelected(
    collection: string,
    { from, ...selecting }: SelectingQuery,
  ): Promise<SelectedDocuments> {
    const { limit } = selecting;
    if (limit < 1) return { ids: [], documents: [] };
    const found = await calls.read(`read of ${collection}`, async (attempt) =>
      commands.aggregate(from, joinSelected(collection, selecting), { limit }, attempt),
    );
    if (found === null) {
      const ids = await selectIds(from, selecting);
      return { ids, documents: await getMany(collection, ids) };
    }
    return {
      ids: found.map((selected) => idOf(from, selected)),
      documents: found.flatMap(({ joined }) =>
        (joined as Document[]).map((document) => decodeDocument(collection, document)),
      ),
    };
  }

  return {
    get: async (collection: string, id: string): Promise<StoredDocument | null> =>
      collection === upkeepOf ? get(collection, id) : ((await gather([{ collection, id }]))[0] ?? null),
    getEach: gather,
    getMany,
    find: async (
      collection: string,
      { where, after, descending = false, limit }: DocumentQuery,
    ): Promise<readonly StoredDocument[]> =>
      query(
        collection,
        {
          ...idAfter(after, descending),
          body: { $ne: null },
          ...(where === undefined ? {} : holding(where)),
        },
        { limit, sort: idOrder(descending) },
      ),
    ids: selectIds,
    getSelected,
    findInOrder: async (
      collection: string,
      { orderBy, after, descending = false, limit }: OrderedQuery,
    ): Promise<readonly StoredDocument[]> => {
      const path = storedPath(orderBy);
      // A comparison with a string matches only strings, so one range of the index holds all requested documents.
      const [from, beyond] = descending ? (['$lte', '$lt'] as const) : (['$gte', '$gt'] as const);
      const filter: StringId =
        after === undefined
          ? { [path]: { $gte: '' } }
          : {
              [path]: { [from]: after.value },
              $or: [{ [path]: { [beyond]: after.value } }, { _id: { [beyond]: after.id } }],
            };
      const direction = descending ? -1 : 1;
      return query(collection, filter, { limit, sort: { [path]: direction, _id: direction } });
    },
    scan: async (
      collection: string,
      { after, limit }: { readonly after?: string; readonly limit: number },
    ): Promise<readonly StoredDocument[]> => query(collection, idAfter(after, false), { limit }),
  };
}

/**
 * Returns the stages that read the first document and join one document of each other collection by a known id. The id
 * is a field of the joined document, because a lookup by a field uses the index of ids on every server.
 */
function joinById(firstId: string, others: readonly DocumentName[]): Document[] {
  const ids = others.map(({ id }, index): [string, Document] => [`id${index + 1}`, { $literal: id }]);
  const lookups = others.map(({ collection }, index) => ({
    $lookup: {
      from: collection,
      localField: `id${index + 1}`,
      foreignField: '_id',
      as: foundAt(index + 1),
    },
  }));
  return [
    { $match: { _id: firstId } },
    { $project: { _id: 0, [foundAt(0)]: '$$ROOT', ...Object.fromEntries(ids) } },
    ...lookups,
  ];
}

/** Returns the stages that select ids by an index, and join the document of each id in another collection. */
function joinSelected(
  collection: string,
  { where, after, descending = false, limit }: Omit<SelectingQuery, 'from'>,
): Document[] {
  return [
    { $match: { ...idAfter(after, descending), ...holding(where) } },
    { $sort: idOrder(descending) },
    { $limit: limit },
    // Before the lookup, so that the index of the field holds all that is read of the first collection.
    { $project: { _id: 1 } },
    { $lookup: { from: collection, localField: '_id', foreignField: '_id', as: 'joined' } },
  ];
}

function foundAt(index: number): string {
  return `found${index}`;
}

function holding(where: NonNullable<DocumentQuery['where']>): StringId {
  return { [storedPath(where.field)]: 'equals' in where ? { $eq: where.equals } : { $in: [...where.anyOf] } };
}

function idOrder(descending: boolean): Record<string, 1 | -1> {
  return { _id: descending ? -1 : 1 };
}

function idAfter(after: string | undefined, descending: boolean): StringId {
  if (after === undefined) return {};
  return { _id: descending ? { $lt: after } : { $gt: after } };
}

function idOf(collection: string, stored: Document): string {
  return parseStored(storedId, stored, collection)._id;
}

/** Decodes a document for the first caller who asks. The others share it: nothing changes a document that was read. */
function once(collection: string, stored: Document): () => StoredDocument {
  let decoded: StoredDocument | undefined;
  return () => (decoded ??= decodeDocument(collection, stored));
}

function decodeDocument(collection: string, stored: Document): StoredDocument {
  const { _id: id, revision, body } = parseStored(storedDocument, stored, collection);
  return { id, revision, body: body === null ? null : decodeBody(body) };
}
