import { z } from 'zod';
import { invalid } from '../src/validation/field-problems.js';
import type { Page } from '../src/event-sourcing/views/views.js';
import { type CreationPage, type FilteredPage, matchingPage, pageFrom } from './filtered-page.js';

/** Returns a page of the entries of one document, newest first by id, as in all lists. */
export function pageOfEntries<Entry extends { readonly id: string }>(
  entries: readonly Entry[],
  { after, limit }: Page,
): readonly Entry[] {
  return entries
    .filter(({ id }) => after === undefined || id < after)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .slice(0, limit);
}

export { matchesOf } from './filtered-page.js';

/** Items of a page at most. */
export const pageItemsMax = 200;

/**
 * Makes the schema of `?limit=` and `?cursor=` for a list that is ordered by `position`.
 * @param written how the cursor of a position is written
 * @param cursorId names the parameter in the published document; other for each `written`
 */
export function pageQueryBy(
  position: z.ZodType<string>,
  written = /^[A-Za-z0-9_-]{1,256}$/,
  cursorId = 'PositionCursor',
) {
  return z.object({
    limit: z.coerce
      .number()
      .int()
      .min(1)
      .max(pageItemsMax)
      .default(50)
      .meta({ description: 'How many at most.', param: { id: 'Limit' } }),
    cursor: z
      .string()
      .regex(written)
      .transform((cursor, ctx) => {
        const parsed = position.safeParse(Buffer.from(cursor, 'base64url').toString('latin1'));
        if (parsed.success) return parsed.data;
        ctx.addIssue({ code: 'custom', message: 'is not the next_cursor of a list' });
        return z.NEVER;
      })
      .optional()
      .meta({ description: '`next_cursor` of the page before.', param: { id: cursorId } }),
  });
}

/** The query of every list that is ordered by id (src/http/README.md#lists). Base64 makes 48 characters of an id. */
export const pageQuery = pageQueryBy(z.uuid(), /^[A-Za-z0-9_-]{48}$/, 'Cursor');

/** The query of a list that is in order of creation, in either direction. */
export const creationQuery = pageQuery.extend({
  sort: z
    .enum(['-created_at', 'created_at'])
    .default('-created_at')
    .meta({ description: 'By creation; `-` is for the newest first.', param: { id: 'CreationSort' } }),
});

/** Reads the page of a list that a query names. */
export async function readCreationPage<Item>(
  { limit, cursor, sort }: z.output<typeof creationQuery>,
  read: (page: CreationPage) => Promise<FilteredPage<Item>>,
): Promise<Listed<Item>> {
  const descending = sort === '-created_at';
  return listed(await read({ ...pageFrom(cursor, limit), descending }));
}

/** A position in a list with several orders begins with its order and the id of an item. */
const orderedPosition = z
  .string()
  .transform((bytes) => Buffer.from(bytes, 'latin1').toString())
  .refine((text) => /^-?[a-z_]+ [0-9a-f-]{36}/.test(text));

/** Makes the query of a list with several orders, the first of which is the default. */
export function orderedQuery<const Sorts extends readonly [string, ...string[]]>(sorts: Sorts) {
  return pageQueryBy(orderedPosition, /^[A-Za-z0-9_-]{48,800}$/, 'OrderedCursor').extend({
    sort: z.enum(sorts).default(sorts[0]).describe('`-` is for descending.'),
  });
}

/** Reads the page of a list with several orders that a query names. @throws InvalidInput for a cursor of another order */
export async function readOrderedPage<Item>(
  input: { readonly limit: number; readonly cursor?: string | undefined; readonly sort: string },
  read: (page: Page) => Promise<FilteredPage<Item>>,
): Promise<Listed<Item>> {
  const { limit, cursor, sort } = input;
  if (cursor?.startsWith(`${sort} `) === false)
    invalid('query.cursor', 'is of a list in another order', 'not_allowed');
  const { items, next } = await read(pageFrom(cursor?.slice(sort.length + 1), limit));
  return listed({ items, next: next === null ? null : `${sort} ${next}` });
}

/** Makes the reply schema of a list. The list of `Asset` has the id `AssetPage`. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  const page = z.strictObject({
    items: z.array(item),
    next_cursor: z.string().nullable().describe('Null on the last page.'),
  });
  const id = z.globalRegistry.get(item)?.id;
  return id === undefined ? page : page.meta({ id: `${id}Page` });
}

/**
 * Reads the page that a query names.
 * @param read reads the items after a position
 * @param positionOf returns an item's position in the list; by default its id
 * @param matches by default, null: all items
 */
export async function readPage<Item extends { readonly id: string }>(
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  read: (page: Page) => readonly Item[] | Promise<readonly Item[]>,
  positionOf: (item: Item) => string = ({ id }) => id,
  matches: ((item: Item) => boolean) | null = null,
): Promise<Listed<Item>> {
  return listed(await matchingPage(pageFrom(cursor, limit), { read, positionOf, matches }));
}

/** The body of a list. An alias, because only an alias is assignable to JSON. */
type Listed<Item> = { items: Item[]; next_cursor: string | null };

function listed<Item>({ items, next }: FilteredPage<Item>): Listed<Item> {
  return { items: [...items], next_cursor: next === null ? null : Buffer.from(next).toString('base64url') };
}

/** A search in names. */
export const searchText = z
  .string()
  .min(1)
  .max(200)
  .meta({
    description:
      'Words, each of which begins a word of the name. Capitals and accents do not count. In scripts without spaces, each character begins a word.',
    examples: ['rhine daw'],
    param: { id: 'NameSearch' },
  });
