import { isDeepStrictEqual } from 'node:util';
import type { ReadModelStore, StoredDocument } from '../ports/read-model-store.js';

const differentIdsMax = 100;
const pageSize = 200;

export interface Differences {
  /** Documents at the same revision in both collections. */
  readonly compared: number;
  readonly different: number;
  /** The ids of the first 100 different documents. */
  readonly differentIds: readonly string[];
}

/** Compares the documents of two generations at equal revisions. At other revisions one generation is merely ahead. */
export async function compareCollections(
  readModelStore: ReadModelStore,
  left: string,
  right: string,
): Promise<Differences> {
  let compared = 0;
  let different = 0;
  const differentIds: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await readModelStore.scan(left, {
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
    });
    const others = new Map<string, StoredDocument>();
    const ids = page.map((document) => document.id);
    for (const other of await readModelStore.getMany(right, ids)) others.set(other.id, other);
    for (const document of page) {
      const other = others.get(document.id);
      if (other?.revision !== document.revision) continue;
      compared += 1;
      if (isDeepStrictEqual(other.body, document.body)) continue;
      different += 1;
      if (differentIds.length < differentIdsMax) differentIds.push(document.id);
    }
    after = page.at(-1)?.id;
    if (page.length < pageSize) return { compared, different, differentIds };
  }
}
