import type { ExecutionContext } from 'ava';
import type { startTestService } from '../servers/http-service.js';

type Get = Awaited<ReturnType<typeof startTestService>>['get'];

/** Makes calls that read a filtered list. `headers` of a call replace those of the reader. */
export function makeListReader(t: ExecutionContext, { get }: { readonly get: Get }, own: object) {
  return {
    /** Reads the whole list of a query in pages of two, and returns a field of each item. */
    list: async (path: string, query: string, field: string, headers: object = {}): Promise<unknown[]> => {
      const found: unknown[] = [];
      let cursor = '';
      do {
        const at = `${path}?limit=2&${query}${cursor === '' ? '' : `&cursor=${cursor}`}`;
        const { status, text, json } = await get(at, { ...own, ...headers });
        t.is(status, 200, text);
        const page = json as { items: Record<string, unknown>[]; next_cursor: string | null };
        t.true(page.items.length <= 2);
        found.push(...page.items.map((item) => item[field]));
        cursor = page.next_cursor ?? '';
      } while (cursor !== '');
      return found;
    },
    /** Expects 400 for a query. */
    refuses: async (path: string, query: string, headers: object = {}): Promise<void> => {
      const { status, text } = await get(`${path}?${query}`, { ...own, ...headers });
      t.is(status, 400, `${path}?${query} ${text}`);
    },
  };
}
