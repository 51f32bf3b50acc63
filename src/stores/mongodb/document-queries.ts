import type { Document, Filter } from 'mongodb';
import { z } from 'zod';

import type {
  DocumentQuery,
  OrderedQuery,
  PartialSum,
  StoredDocument,
  SumQuery,
} from '../../event-sourcing/read-model-store.js';
import { decodeBody, encodeKey, storedPath } from './body-fields.js';
import type { Calls } from './calls.js';
import type { Commands } from './commands.js';
import { parseStored } from './parse-stored.js';

type StringId = Filter<{ _id: string; [field: string]: unknown }>;

const storedDocument = z.object({
  _id: z.string(),
  revision: z.bigint(),
  body: z.record(z.string(), z.unknown()).nullable(),
});

/** What a sum asks of a document. */
const summedDocument = z.object({
  _id: z.string(),
  body: z.record(z.string(), z.unknown()).nullable().optional(),
});

const idsUp = { _id: 1 } as const;

/** Documents whose numbers are summed at once: some 300 KiB on the wire. */
const summedMax = 5_000;

/** Reads of one collection's documents, in order of id where no other is named. */
export interface DocumentQueries {
  get(collection: string, id: string): Promise<StoredDocument | null>;
  getMany(collection: string, ids: readonly string[]): Promise<readonly StoredDocument[]>;
  find(collection: string, query: DocumentQuery): Promise<readonly StoredDocument[]>;
  findInOrder(collection: string, query: OrderedQuery): Promise<readonly StoredDocument[]>;
  sum(collection: string, query: SumQuery): Promise<PartialSum>;
  scan(
    collection: string,
    options: { readonly after?: string; readonly limit: number },
  ): Promise<readonly StoredDocument[]>;
}

export function makeDocumentQueries({
  calls,
  commands,
}: {
  readonly calls: Calls;
  readonly commands: Commands;
}): DocumentQueries {
  async function query(
    collection: string,
    filter: StringId,
    { limit, sort = idsUp }: { readonly limit: number; readonly sort?: Record<string, 1 | -1> },
  ): Promise<readonly StoredDocument[]> {
    // To the server a limit of 0 is no limit.
    if (limit < 1) return [];
    const found = await calls.read(`read of ${collection}`, async (signal) =>
      commands.find(collection, filter, { sort, limit, batchSize: limit }, signal),
    );
    return found.map((document) => decodeDocument(collection, document));
  }

  return {
    get: async (collection, id) => (await query(collection, { _id: id }, { limit: 1 }))[0] ?? null,
    getMany: async (collection, ids) => query(collection, { _id: { $in: [...ids] } }, { limit: ids.length }),
    find: async (collection, { where, after, descending = false, limit }) =>
      query(
        collection,
        {
          ...idAfter(after, descending),
          body: { $ne: null },
          ...(where === undefined ? {} : { [storedPath(where.field)]: { $eq: where.equals } }),
        },
        { limit, sort: { _id: descending ? -1 : 1 } },
      ),
    findInOrder: async (collection, { orderBy, after, limit }) => {
      const path = storedPath(orderBy);
      // A comparison with a string matches strings only, so one range of the index holds all that is asked for.
      const filter: StringId =
        after === undefined
          ? { [path]: { $gte: '' } }
          : {
              [path]: { $gte: after.value },
              $or: [{ [path]: { $gt: after.value } }, { _id: { $gt: after.id } }],
            };
      return query(collection, filter, { limit, sort: { [path]: 1, _id: 1 } });
    },
    sum: async (collection, { where, field, after }) => {
      const filter = { ...idAfter(after, false), [storedPath(where.field)]: { $eq: where.equals } };
      const found = await calls.read(`sum over ${collection}`, async (signal) =>
        commands.find(
          collection,
          filter,
          {
            sort: idsUp,
            limit: summedMax,
            batchSize: summedMax,
            projection: { [`body.${encodeKey(field)}`]: 1 },
          },
          signal,
        ),
      );
      const documents = found.map((document) => parseStored(summedDocument, document, collection));
      const sum = documents.reduce((total, { body }) => total + wholeNumber(body?.[encodeKey(field)]), 0n);
      return { sum, after: documents.length < summedMax ? null : (documents.at(-1)?._id ?? null) };
    },
    scan: async (collection, { after, limit }) => query(collection, idAfter(after, false), { limit }),
  };
}

function wholeNumber(value: unknown): bigint {
  return Number.isSafeInteger(value) ? BigInt(Number(value)) : 0n;
}

function idAfter(after: string | undefined, descending: boolean): StringId {
  if (after === undefined) return {};
  return { _id: descending ? { $lt: after } : { $gt: after } };
}

function decodeDocument(collection: string, stored: Document): StoredDocument {
  const { _id: id, revision, body } = parseStored(storedDocument, stored, collection);
  return { id, revision, body: body === null ? null : decodeBody(body) };
}
