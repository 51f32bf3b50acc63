/** A page of a list. */
interface Page<Item> {
  readonly items: readonly Item[];
  readonly next_cursor: string | null;
}

/**
 * Yields every item of a list, and asks for each page only when the loop reaches it.
 * @param read reads the page of a cursor; undefined for the first one
 */
export async function* pages<Item>(
  read: (cursor: string | undefined) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, undefined> {
  let cursor: string | undefined;
  for (;;) {
    const { items, next_cursor } = await read(cursor);
    yield* items;
    if (next_cursor === null) return;
    cursor = next_cursor;
  }
}
