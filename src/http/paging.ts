import { z } from 'zod';

/** `?limit=` and `?cursor=` of a list whose items stand in order of such a place. */
export function pageQueryBy(place: z.ZodType<string>) {
  return z.object({
    limit: z.coerce.number().int().min(1).max(200).default(50).meta({ description: 'How many at most.' }),
    cursor: z
      .string()
      .regex(/^[\w-]{1,256}$/)
      .transform((cursor, ctx) => {
        const parsed = place.safeParse(Buffer.from(cursor, 'base64url').toString('latin1'));
        if (parsed.success) return parsed.data;
        ctx.addIssue({ code: 'custom', message: 'is not the next_cursor of a list' });
        return z.NEVER;
      })
      .optional()
      .meta({ description: '`next_cursor` of the page before.' }),
  });
}

/** Of every list in order of ids (DESIGN section 4). */
export const pageQuery = pageQueryBy(z.uuid());

/** The reply schema of a list of such items. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return z.strictObject({
    items: z.array(item),
    next_cursor: z.string().nullable().meta({ description: 'Null on the last page.' }),
  });
}

/**
 * Reads one page, and one item more to know whether another page follows.
 * @param read what follows the place `after`
 * @param placeOf where an item stands in the list; its id when left out
 */
export async function readPage<Item extends { readonly id: string }>(
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
  read: (page: { readonly limit: number; readonly after?: string }) => Promise<readonly Item[]>,
  placeOf: (item: Item) => string = ({ id }) => id,
): Promise<{ items: Item[]; next_cursor: string | null }> {
  const found = await read({ limit: limit + 1, ...(cursor === undefined ? {} : { after: cursor }) });
  const items = found.slice(0, limit);
  const last = found.length > limit ? items.at(-1) : undefined;
  return { items, next_cursor: last === undefined ? null : Buffer.from(placeOf(last)).toString('base64url') };
}
