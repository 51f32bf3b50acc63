import { z } from 'zod';
import type { PartialSum, SumQuery } from '../../event-sourcing/ports/read-model-store.js';
import type { Connection } from './database.js';

/** Rows and owners of one batch: about 2 ms of work, which blocks the thread. */
const rowsMax = 500;
const ownersMax = 200;

/** The place of a batch's last row. A null `document`: all documents of the owner are summed. */
const cursorSchema = z.object({ owner: z.string(), document: z.string().nullable() });
type Cursor = z.infer<typeof cursorSchema>;

/** Returns the number of a collection, by the number of the parameter with its name. */
const numberOf = (parameter: number): string => `(SELECT number FROM collections WHERE name = ?${parameter})`;

/**
 * An owner without documents has one row with a null document. CROSS and LEFT JOIN keep the outer tables, whose order the
 * rows have.
 */
const sumSql = `
  WITH owners AS MATERIALIZED (
    SELECT entry.id AS owner FROM index_entries AS entry
    CROSS JOIN documents ON documents.collection = entry.collection AND documents.id = entry.id
    WHERE entry.collection = ${numberOf(1)} AND entry.field = ?2 AND entry.value = ?3
      AND (entry.id > ?4 OR (entry.id = ?4 AND ?5 IS NOT NULL))
      AND EXISTS (SELECT 1 FROM json_each(documents.body, ?6) AS element
        WHERE CASE element.type WHEN 'object'
          THEN json_extract(element.value, ?7) = ?3 AND json_extract(element.value, ?8) = ?9 END)
    ORDER BY entry.id LIMIT ${ownersMax}),
  part AS MATERIALIZED (
    SELECT owner, entry.id AS document,
      CASE json_type(documents.body, ?10) WHEN 'integer' THEN json_extract(documents.body, ?10) END AS number
    FROM owners
    LEFT JOIN index_entries AS entry ON entry.collection = ${numberOf(11)} AND entry.field = ?12
      AND entry.value = owner AND (owner > ?4 OR entry.id > ?5)
    LEFT JOIN documents ON documents.collection = entry.collection AND documents.id = entry.id
    ORDER BY owner, entry.id LIMIT ${rowsMax})
  SELECT count(*), count(DISTINCT owner), coalesce(sum(number), 0), CAST(max(owner) AS BLOB),
    (SELECT CAST(max(document) AS BLOB) FROM part WHERE owner = (SELECT max(owner) FROM part))
  FROM part`;

/** Makes the function that sums one batch. */
export function makeSumPart(connection: Connection): (collection: string, query: SumQuery) => PartialSum {
  const select =
    connection.query<
      readonly [rows: bigint, owners: bigint, sum: bigint, owner: Buffer | null, document: Buffer | null]
    >(sumSql);

  return (collection, { by, field, owners: { collection: ownersIn, list, indexed, and }, after }) => {
    const from: Cursor =
      after === undefined ? { owner: '', document: null } : cursorSchema.parse(JSON.parse(after));
    const row = select.get(
      ownersIn,
      `${list}.${indexed.field}`,
      indexed.equals,
      from.owner,
      from.document,
      jsonPath(list),
      jsonPath(indexed.field),
      jsonPath(and.field),
      and.equals,
      jsonPath(field),
      collection,
      by,
    );
    const [rows, owners, sum, owner, document] = row ?? [0n, 0n, 0n, null, null];
    const isCut = rows === BigInt(rowsMax);
    if (owner === null || (!isCut && owners < BigInt(ownersMax))) return { sum, after: null };
    const last: Cursor = { owner: owner.toString(), document: isCut ? (document?.toString() ?? null) : null };
    return { sum, after: JSON.stringify(last) };
  };
}

function jsonPath(field: string): string {
  return `$.${JSON.stringify(field)}`;
}
