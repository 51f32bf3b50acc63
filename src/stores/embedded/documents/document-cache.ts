import { LRUCache } from 'lru-cache';
import type { StoredDocument } from '../../../event-sourcing/ports/read-model-store.js';

/** A cache of parsed documents that were read or written recently, and of ids without a document. */
interface DocumentCache {
  /** Returns the documents that exist, in the order of `ids`. It calls `read` for those that it does not know. */
  getMany(
    collection: string,
    ids: readonly string[],
    read: (unknown: readonly string[]) => readonly SizedDocument[],
  ): StoredDocument[];
  /** Caches a document that a commit has written. The caller calls it before it acknowledges the commit. */
  written(collection: string, written: SizedDocument): void;
  /** Removes a document that a commit may have changed. The caller calls it before it acknowledges the commit. */
  forget(collection: string, id: string): void;
  forgetAll(): void;
}

/** A document and the length of its stored text in bytes. */
export interface SizedDocument {
  readonly document: StoredDocument;
  readonly bytes: number;
}

const bytesMax = 16 * 1024 * 1024;
/** The estimated memory of a document beside its text. */
const overheadBytes = 200;
const absent = Symbol('absent');

/** Only this process writes, so a cached document is stale at most until the commit that changed it is acknowledged. */
export function makeDocumentCache(): DocumentCache {
  const cache = new LRUCache<string, StoredDocument | typeof absent>({ maxSize: bytesMax });
  const keyOf = (collection: string, id: string): string => `${collection}/${id}`;
  const written = (collection: string, { document, bytes }: SizedDocument): void => {
    cache.set(keyOf(collection, document.id), document, { size: bytes + overheadBytes });
  };
  return {
    getMany: (collection, ids, read) => {
      const found = new Map(ids.map((id) => [id, cache.get(keyOf(collection, id))]));
      const unknown = [...found].flatMap(([id, known]) => (known === undefined ? [id] : []));
      if (unknown.length > 0) {
        for (const each of read(unknown)) {
          written(collection, each);
          found.set(each.document.id, each.document);
        }
        for (const id of unknown)
          if (found.get(id) === undefined) cache.set(keyOf(collection, id), absent, { size: overheadBytes });
      }
      return [...found.values()].filter((known) => typeof known === 'object');
    },
    written,
    forget: (collection, id) => {
      cache.delete(keyOf(collection, id));
    },
    forgetAll: () => {
      cache.clear();
    },
  };
}
