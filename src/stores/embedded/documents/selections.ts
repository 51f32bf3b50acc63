import type { DocumentQuery, StoredDocument } from '../../../event-sourcing/ports/read-model-store.js';
import { makeSizedLru } from '../../../kit/lru.js';
import { asStored, indexValues } from './index-values.js';

/** The ids that a query has selected, in its order, at most `limit`. */
interface Selection {
  readonly descending: boolean;
  readonly limit: number;
  readonly ids: readonly string[];
}

/** Selections by one value, by order and limit. */
type ByQuery = ReadonlyMap<string, Selection>;

const bytesMax = 2 * 1024 * 1024;
const entriesMax = 4_000;
/** Clients choose limits, so a list may be asked for by any number of them. */
const queriesMax = 8;

/**
 * Makes a cache of the ids that queries by one value select. A write changes only the selections of the values that it adds or takes
 * away: those of other owners stay, and that of an owner of many things is not read again for each new one.
 */
export function makeSelections() {
  const cache = makeSizedLru<ByQuery>({
    ...{ entriesMax, bytesMax },
    bytesOf: (queries) => [...queries.values()].reduce((sum, { ids }) => sum + 60 * ids.length, 200),
  });
  /** The fields of each collection by which a query has selected. */
  const fields = new Map<string, Set<string>>();
  /** How often the selections of each collection were forgotten. Nothing asks for the keys of before, so others evict them. */
  const forgotten = new Map<string, number>();
  const keyOf = (collection: string, field: string, value: string): string =>
    JSON.stringify([collection, forgotten.get(collection) ?? 0, field, asStored(value)]);

  return {
    /** Returns undefined where the ids are not known: also of a page after another one. */
    get: (collection: string, { where, after, descending = false, limit }: DocumentQuery) => {
      if (where === undefined || !('equals' in where) || after !== undefined) return undefined;
      const queries = cache.get(keyOf(collection, where.field, where.equals));
      return queries?.get(nameOf({ descending, limit }))?.ids;
    },
    /** Keeps what a query has selected from the file now. */
    set: (
      collection: string,
      { where, after, descending = false, limit }: DocumentQuery,
      ids: readonly string[],
    ): void => {
      if (where === undefined || !('equals' in where) || after !== undefined) return;
      fields.set(collection, (fields.get(collection) ?? new Set()).add(where.field));
      const key = keyOf(collection, where.field, where.equals);
      const name = nameOf({ descending, limit });
      const others = [...(cache.get(key) ?? [])].filter(([other]) => other !== name);
      cache.set(key, new Map([...others.slice(1 - queriesMax), [name, { descending, limit, ids }]]));
    },
    /**
     * Follows a write. Where the document before it is not known, all selections of the collection go.
     * @param known the document as the process knows it: null for none, undefined for not at all. A read may have met a later write
     */
    changed: (collection: string, known: StoredDocument | null | undefined, after: StoredDocument): void => {
      const selectedBy = fields.get(collection);
      if (selectedBy === undefined) return;
      // A stream begins with revision 0.
      const before = after.revision === 0n ? null : known;
      if (before === undefined || (before !== null && before.revision >= after.revision))
        forgetAll(collection);
      else for (const field of selectedBy) follow(collection, field, { before, after });
    },
    /** Forgets the selections of a collection. */
    forgetAll,
    clear: (): void => {
      cache.clear();
      fields.clear();
    },
  };

  function forgetAll(collection: string): void {
    if (fields.delete(collection)) forgotten.set(collection, (forgotten.get(collection) ?? 0) + 1);
  }

  function follow(
    collection: string,
    field: string,
    { before, after }: { readonly before: StoredDocument | null; readonly after: StoredDocument },
  ): void {
    const [old, now] = [indexValues(before?.body ?? null, field), indexValues(after.body, field)];
    // As in the file, what goes comes first: two texts may be stored as the same value.
    for (const value of old)
      if (!now.has(value)) change(keyOf(collection, field, value), after.id, withoutId);
    for (const value of now) if (!old.has(value)) change(keyOf(collection, field, value), after.id, withId);
  }

  function change(
    key: string,
    id: string,
    changed: (selection: Selection, id: string) => Selection | null,
  ): void {
    const queries = cache.peek(key);
    if (queries === undefined) return;
    const left = [...queries].flatMap(([name, selection]) => {
      const next = changed(selection, id);
      return next === null ? [] : [[name, next] as const];
    });
    if (left.length === 0) cache.delete(key);
    else cache.set(key, new Map(left));
  }
}

function nameOf({ descending, limit }: Pick<Selection, 'descending' | 'limit'>): string {
  return `${descending ? 'down' : 'up'} ${limit}`;
}

/** Adds an id in its order. The commit that added it may have been in the file at the time of the query. */
function withId(selection: Selection, id: string): Selection {
  const { descending, limit, ids } = selection;
  const bytes = Buffer.from(id);
  let [at, end] = [0, ids.length];
  while (at < end) {
    const middle = (at + end) >> 1;
    // SQLite compares bytes.
    const order = Buffer.compare(Buffer.from(ids[middle] ?? ''), bytes);
    if (order === 0) return selection;
    if (order < 0 !== descending) at = middle + 1;
    else end = middle;
  }
  return { ...selection, ids: [...ids.slice(0, at), id, ...ids.slice(at)].slice(0, limit) };
}

/** Takes an id away. What follows a full page is not known. */
function withoutId(selection: Selection, id: string): Selection | null {
  const { limit, ids } = selection;
  if (!ids.includes(id)) return selection;
  return ids.length < limit ? { ...selection, ids: ids.filter((one) => one !== id) } : null;
}
