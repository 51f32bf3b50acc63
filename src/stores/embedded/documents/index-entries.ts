import type { Connection, Statement } from '../files/database.js';
import type { Prepare } from '../writing/transactions.js';

/** Index entries to insert: for each field the members `"<value>":"<id>"` of a JSON object. */
export type AddedEntries = Map<string, string[]>;

/** Each query reads all new entries, so they are few. A call with more documents gains nothing by them. */
const newEntriesMax = 400;
const newDocumentsMax = 16;

/**
 * Writes the index entries of documents. Those of one document lie in many pages of `index_entries`, so those of small calls are
 * gathered: one statement for each field inserts them into `new_entries` before the commit, and they are moved on, many at a time.
 */
export function makeIndexEntries(connection: Connection, prepare: Prepare) {
  // A bound parameter costs more than SQLite's insert, so one text holds all entries of a field.
  const insertInto = (table: string): Statement =>
    prepare(`INSERT INTO ${table} SELECT ?, ?, key, value FROM json_each(?)`);
  const [insertEntries, insertNewEntries] = [insertInto('index_entries'), insertInto('new_entries')];
  const deleteFrom = (table: string): Statement =>
    prepare(`DELETE FROM ${table} WHERE collection = ? AND field = ? AND value = ? AND id = ?`);
  const [deleteEntry, deleteNewEntry] = [deleteFrom('index_entries'), deleteFrom('new_entries')];
  const countNewEntries = connection.query<readonly [bigint]>('SELECT count(*) FROM new_entries');
  const moveNewEntries = prepare('INSERT INTO index_entries SELECT * FROM new_entries ORDER BY 1, 2, 3, 4');
  const deleteNewEntries = prepare('DELETE FROM new_entries');
  /** Those of the transaction, by the number of the collection. */
  const gathered = new Map<bigint, AddedEntries>();
  let newEntries = 0;
  reload();
  return { add, remove, moveOn, beforeCommit, reload };

  /** @param documents those of the call */
  function add(collection: bigint, added: AddedEntries, documents: number): void {
    if (documents > newDocumentsMax) {
      for (const [field, members] of added) insertEntries(collection, field, `{${members.join()}}`);
      return;
    }
    const others = gathered.get(collection) ?? new Map<string, string[]>();
    gathered.set(collection, others);
    for (const [field, members] of added) {
      const known = others.get(field);
      if (known === undefined) others.set(field, members);
      else known.push(...members);
    }
  }

  function remove(...entry: readonly [collection: bigint, field: string, value: string, id: string]): void {
    // It may be of the same transaction.
    insertGathered();
    if (deleteEntry(...entry) === 0) newEntries -= deleteNewEntry(...entry);
  }

  function insertGathered(): void {
    for (const [collection, added] of gathered) {
      for (const [field, members] of added) {
        insertNewEntries(collection, field, `{${members.join()}}`);
        newEntries += members.length;
      }
    }
    gathered.clear();
  }

  /** Moves the new entries to where a query finds them by their order. */
  function moveOn(): void {
    insertGathered();
    if (newEntries === 0) return;
    moveNewEntries();
    deleteNewEntries();
    newEntries = 0;
  }

  function beforeCommit(): void {
    insertGathered();
    if (newEntries > newEntriesMax) moveOn();
  }

  /** Follows the file after a transaction that was rolled back. */
  function reload(): void {
    gathered.clear();
    newEntries = Number(countNewEntries.get()?.[0]);
  }
}
