import type { Page } from '../../event-sourcing/views/views.js';

const pageSize = 200;

/** Yields every id, page by page. A page begins after the last id, so the caller may remove ids from the view. */
export async function* everyId(read: (page: Page) => Promise<readonly string[]>): AsyncGenerator<string> {
  let after: string | undefined;
  do {
    const ids = await read(after === undefined ? { limit: pageSize } : { after, limit: pageSize });
    yield* ids;
    after = ids.at(-1);
  } while (after !== undefined);
}
