import type { Document } from 'mongodb';
import { z } from 'zod';

import type { PartialSum, SumQuery } from '../../event-sourcing/ports/read-model-store.js';
import { encodeKey, storedPath } from './body-fields.js';
import type { Calls } from './calls.js';
import type { DatabaseCommands } from './commands.js';
import { parseStored } from './parse-stored.js';

/** Owners of one command: about 300 KiB on the wire. */
const ownersMax = 5_000;
/** Documents of one owner that one command sums. */
const documentsMax = 5_000;

/** The place after a command: the last owner, and the owners with further documents after an id. */
const cursorSchema = z.object({
  owner: z.string().nullable(),
  rest: z.array(z.object({ owner: z.string(), document: z.string() })),
});
type Cursor = z.infer<typeof cursorSchema>;

/** The server sums as int, long or double, which is exact up to 2^53. */
const wholeNumber = z.union([z.bigint(), z.number()]).transform((sum) => BigInt(sum));

/** The sum over the documents of one owner, `last` the last of them. The list is empty for an owner without documents. */
const ownersSum = z.object({
  _id: z.string(),
  sums: z.array(z.object({ count: z.coerce.number(), last: z.string(), sum: wholeNumber })),
});

/** Makes the function that sums one batch, on the server. */
export function makeSum({
  calls,
  commands,
}: {
  readonly calls: Calls;
  readonly commands: DatabaseCommands;
}): (collection: string, query: SumQuery) => Promise<PartialSum> {
  return async (collection, query) => {
    const from: Cursor =
      query.after === undefined ? { owner: null, rest: [] } : cursorSchema.parse(JSON.parse(query.after));
    const found = await calls.read(`sum over ${collection}`, async (attempt) =>
      commands.aggregate(
        query.owners.collection,
        sumStages(collection, query, from),
        { limit: ownersMax },
        attempt,
      ),
    );
    const sums = found.map((document) => parseStored(ownersSum, document, collection));
    const sum = sums.reduce((total, { sums: [one] }) => total + (one?.sum ?? 0n), 0n);
    const next = nextPlace(from, sums);
    return { sum, after: next === null ? null : JSON.stringify(next) };
  };
}

/** A command takes the next owners, or the next documents of one owner. */
function nextPlace({ owner, rest }: Cursor, sums: readonly z.infer<typeof ownersSum>[]): Cursor | null {
  const unfinished = sums.flatMap(({ _id, sums: [one] }) =>
    one?.count === documentsMax ? [{ owner: _id, document: one.last }] : [],
  );
  if (rest.length > 0) {
    const left = [...unfinished, ...rest.slice(1)];
    return left.length === 0 && owner === null ? null : { owner, rest: left };
  }
  const last = sums.length < ownersMax ? null : (sums.at(-1)?._id ?? null);
  return last === null && unfinished.length === 0 ? null : { owner: last, rest: unfinished };
}

function sumStages(collection: string, { by, field, owners }: SumQuery, { owner, rest }: Cursor): Document[] {
  const [unfinished] = rest;
  const { list, indexed, and } = owners;
  const element = { [encodeKey(indexed.field)]: indexed.equals, [encodeKey(and.field)]: and.equals };
  const isOwned = { $eq: [`$${storedPath(by)}`, '$$owner'] };
  const isLater = unfinished === undefined ? [] : [{ $gt: ['$_id', unfinished.document] }];
  return [
    {
      $match: { ...placeOf(owner, unfinished?.owner), [storedPath(list)]: { $elemMatch: element } },
    },
    { $sort: { _id: 1 } },
    { $limit: ownersMax },
    { $project: { _id: 1 } },
    {
      $lookup: {
        from: collection,
        let: { owner: '$_id' },
        pipeline: [
          { $match: { $expr: { $and: [isOwned, ...isLater] } } },
          { $sort: { _id: 1 } },
          { $limit: documentsMax },
          {
            $group: {
              _id: null,
              count: { $sum: 1 },
              last: { $last: '$_id' },
              sum: { $sum: `$body.${encodeKey(field)}` },
            },
          },
        ],
        as: 'sums',
      },
    },
  ];
}

function placeOf(after: string | null, only: string | undefined): Document {
  if (only !== undefined) return { _id: only };
  return after === null ? {} : { _id: { $gt: after } };
}
