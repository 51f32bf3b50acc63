import { isDeepStrictEqual } from 'node:util';
import type { ReadModelStore, StoredDocument } from '../../ports/read-model-store.js';
import { type AnyView, isTally } from '../projection.js';
import { totalOf } from '../total.js';

const differentIdsMax = 100;
const pageSize = 200;

export interface Differences {
  /** Documents that hold the same events in both collections. */
  readonly compared: number;
  readonly different: number;
  /** The ids of the first 100 different documents. */
  readonly differentIds: readonly string[];
}

/** Compares the documents of two generations that hold the same events. Of others, one is merely ahead. */
export async function compareCollections(
  readModelStore: ReadModelStore,
  view: AnyView,
  { live, building }: { readonly live: string; readonly building: string },
): Promise<Differences> {
  let compared = 0;
  let different = 0;
  const differentIds: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await readModelStore.scan(live, {
      limit: pageSize,
      ...(after === undefined ? {} : { after }),
    });
    const others = new Map<string, StoredDocument>();
    const ids = page.map((document) => document.id);
    for (const other of await readModelStore.getMany(building, ids)) others.set(other.id, other);
    for (const document of page) {
      const other = others.get(document.id);
      if (other === undefined) continue;
      const [one, another] = [contentOf(document), contentOf(other)];
      if (one.upTo !== another.upTo) continue;
      compared += 1;
      if (isDeepStrictEqual(one.value, another.value)) continue;
      different += 1;
      if (differentIds.length < differentIdsMax) differentIds.push(document.id);
    }
    after = page.at(-1)?.id;
    if (page.length < pageSize) return { compared, different, differentIds };
  }

  /** Returns up to which event the document goes, and what it holds. Announced changes are no events. */
  function contentOf(document: StoredDocument): { readonly upTo: unknown; readonly value: unknown } {
    if (!isTally(view)) return { upTo: document.revision, value: document.body };
    const { position, bytes } = totalOf(document);
    return { upTo: position, value: bytes };
  }
}
