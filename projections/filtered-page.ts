import type { DocumentQuery } from '../src/event-sourcing/ports/read-model-store.js';
import type { JsonObject } from '../src/event-sourcing/ports/domain-event.js';
import type { Page, View, ViewDocument } from '../src/event-sourcing/views/views.js';

/** Documents that one page examines at most. A search that finds little ends its page there, with a `next`. */
export const examinedMax = 2_000;
/** Documents that one call to the store reads. */
const readAtOnce = 200;

/** A page of a list in order of id, which is the order of creation. */
export interface CreationPage extends Page {
  readonly descending: boolean;
}

/** Items of a page, and the id from which on the next page is; null on the last one. */
export interface FilteredPage<Item> {
  readonly items: readonly Item[];
  readonly next: string | null;
}

/**
 * Reads a page of the documents that match, in order of id.
 * @param matches null for all documents: the page then reads as many as it needs
 */
export async function filteredPage<Document extends JsonObject>(
  view: Pick<View<Document>, 'find'>,
  { where, descending, limit, after }: Pick<DocumentQuery, 'where'> & CreationPage,
  matches: ((document: ViewDocument<Document>) => boolean) | null,
): Promise<FilteredPage<ViewDocument<Document>>> {
  const wanted = matches === null ? limit + 1 : readAtOnce;
  const items: ViewDocument<Document>[] = [];
  let at = after;
  for (let examined = 0; examined < examinedMax; examined += wanted) {
    const documents = await view.find({
      ...(where === undefined ? {} : { where }),
      ...(at === undefined ? {} : { after: at }),
      ...{ descending, limit: wanted },
    });
    for (const document of documents) {
      if (matches === null || matches(document)) {
        if (items.length === limit) return { items, next: at ?? null };
        items.push(document);
      }
      at = document.id;
    }
    if (documents.length < wanted) return { items, next: null };
  }
  return { items, next: at ?? null };
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
