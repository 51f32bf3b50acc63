import type { DocumentQuery } from '../src/event-sourcing/ports/read-model-store.js';
import type { JsonObject } from '../src/event-sourcing/ports/domain-event.js';
import type { Page, View, ViewDocument } from '../src/event-sourcing/views/views.js';

/** Items that a filtered page examines at most. A search that finds little ends its page there, with a `next`. */
export const examinedMax = 200;

/** A page of a list in order of id, which is the order of creation. */
export interface CreationPage extends Page {
  readonly descending: boolean;
}

/** Items of a page, and the position from which on the next page is; null on the last one. */
export interface FilteredPage<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/** A list in one order, of which a page shows the items that match. */
export interface OrderedList<Item> {
  /** Reads the items after a position. It returns fewer than `limit` only at the end of the list. */
  readonly read: (page: Page) => readonly Item[] | Promise<readonly Item[]>;
  readonly positionOf: (item: Item) => string;
  /** Null for all items: the page then reads as many as it needs. */
  readonly matches: ((item: Item) => boolean) | null;
  /** Returns whether this item and all after it do not match. */
  readonly isPast?: (item: Item) => boolean;
}

/** Reads a page of the items that match. `page.after` is the position of the last item of the page before. */
export async function matchingPage<Item>(
  { limit, after }: Page,
  { read, positionOf, matches, isPast }: OrderedList<Item>,
): Promise<FilteredPage<Item>> {
  const wanted = matches === null ? limit + 1 : examinedMax;
  const items: Item[] = [];
  let at = after;
  const found = await read(pageFrom(after, wanted));
  for (const item of found) {
    if (isPast?.(item) === true) return { items, next: null };
    if (matches === null || matches(item)) {
      if (items.length === limit) return { items, next: at ?? null };
      items.push(item);
    }
    at = positionOf(item);
  }
  return { items, next: found.length < wanted ? null : (at ?? null) };
}

/** The values of fields that a list selects. Undefined: any. */
export type FilterOf<Resource, Name extends keyof Resource> = {
  readonly [Field in Name]?: Resource[Field] | undefined;
};

const readAtOnce = 200;

/** Yields the items of a list to its end, page by page. @param after the id of the item before the first */
export async function* everyOf<Item extends { readonly id: string }>(
  read: (page: Page) => Promise<readonly Item[]>,
  after?: string,
): AsyncGenerator<Item> {
  for (let last = after; ;) {
    const items = await read(pageFrom(last, readAtOnce));
    yield* items;
    last = items.at(-1)?.id;
    if (last === undefined || items.length < readAtOnce) return;
  }
}

/** Returns a page after a position; from the beginning where there is none. */
export function pageFrom(after: string | undefined, limit: number): Page {
  return after === undefined ? { limit } : { limit, after };
}

/**
 * Reads a page of the documents that match, in order of id.
 * @param matches null for all documents
 */
export function filteredPage<Document extends JsonObject>(
  view: Pick<View<Document>, 'find'>,
  { where, descending, limit, after }: Pick<DocumentQuery, 'where'> & CreationPage,
  matches: ((document: ViewDocument<Document>) => boolean) | null,
): Promise<FilteredPage<ViewDocument<Document>>> {
  const query = { ...(where === undefined ? {} : { where }), descending };
  return matchingPage(pageFrom(after, limit), {
    read: (page) => view.find({ ...query, ...page }),
    positionOf: ({ id }) => id,
    matches,
  });
}

/** Returns a check of the fields that a filter names; null for a filter that names none. */
export function matchesOf<Field extends string>(
  filter: Readonly<Partial<Record<Field, string | undefined>>>,
): ((fields: Readonly<Record<Field, string>>) => boolean) | null {
  const wanted = (Object.entries(filter) as [Field, string | undefined][]).filter(
    ([, value]) => value !== undefined,
  );
  return wanted.length === 0 ? null : (fields) => wanted.every(([field, value]) => fields[field] === value);
}

/** Returns the least id of a time or later: an id is a UUIDv7 (RFC 9562, section 5.7), which begins with its time. */
export function firstIdOf(time: Date): string {
  const digits = Math.max(0, time.getTime()).toString(16).padStart(12, '0').slice(-12);
  return `${digits.slice(0, 8)}-${digits.slice(8)}`;
}

/** Returns the greatest id of a time. */
export function lastIdOf(time: Date): string {
  return `${firstIdOf(time)}-7fff-bfff-ffffffffffff`;
}
