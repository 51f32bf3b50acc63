import type { Page } from '../event-sourcing/views.js';

const pageSize = 200;

/** Reads page after page: what is done with an id may take it out of the view. */
export async function* everyId(read: (page: Page) => Promise<readonly string[]>): AsyncGenerator<string> {
  let after: string | undefined;
  do {
    const ids = await read(after === undefined ? { limit: pageSize } : { after, limit: pageSize });
    yield* ids;
    after = ids.at(-1);
  } while (after !== undefined);
}
