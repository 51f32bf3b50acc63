import { z } from 'zod';
import type { CreationPage, FilteredPage } from './filtered-page.js';

/** Items of a page at most. */
export const pageItemsMax = 200;

/**
 * Makes the schema of `?limit=` and `?cursor=` for a list that is ordered by `place`.
 * @param written how the cursor of a place is written
 * @param options.cursorId names the parameter in the published document, where several lists have it
 */
export function pageQueryBy(
  place: z.ZodType<string>,
  written = /^[A-Za-z0-9_-]{1,256}$/,
  { cursorId }: { readonly cursorId?: string } = {},
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
        const parsed = place.safeParse(Buffer.from(cursor, 'base64url').toString('latin1'));
        if (parsed.success) return parsed.data;
        ctx.addIssue({ code: 'custom', message: 'is not the next_cursor of a list' });
        return z.NEVER;
      })
      .optional()
      .meta({
        description: '`next_cursor` of the page before.',
        ...(cursorId && { param: { id: cursorId } }),
      }),
  });
}

/** The query of every list that is ordered by id (docs/design.md#lists-and-times). Base64 makes 48 characters of an id. */
export const pageQuery = pageQueryBy(z.uuid(), /^[A-Za-z0-9_-]{48}$/, { cursorId: 'Cursor' });

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
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const descending = sort === '-created_at';
  const { items, next } = await read({
    limit,
    descending,
    ...(cursor === undefined ? {} : { after: cursor }),
  });
  return {
    items: [...items],
    next_cursor: next === null ? null : Buffer.from(next).toString('base64url'),
  };
}

/** Makes the reply schema of a list. The list of `Asset` has the id `AssetPage`. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  const page = z.strictObject({
    items: z.array(item),
    next_cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  });
  const id = z.globalRegistry.get(item)?.id;
  return id === undefined ? page : page.meta({ id: `${id}Page` });
}

/**
 * Reads one page, and one item more to know whether another page follows.
 * @param read reads the items after the place `after`
 * @param placeOf returns an item's place in the list; by default its id
 */
export async function readPage<Item extends { readonly id: string }>(
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  read: (page: {
    readonly limit: number;
    readonly after?: string;
  }) => readonly Item[] | Promise<readonly Item[]>,
  placeOf: (item: Item) => string = ({ id }) => id,
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const found = await read({ limit: limit + 1, ...(cursor === undefined ? {} : { after: cursor }) });
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next_cursor: last === undefined ? null : Buffer.from(placeOf(last)).toString('base64url') };
}
