import { LRUCache } from 'lru-cache';
import type { StoredDocument } from '../../../event-sourcing/ports/read-model-store.js';

/** A cache of parsed documents that were read or written recently. */
export interface DocumentCache {
  /** Returns the cached document. When there is none, it calls `read` and caches the result. */
  get(collection: string, id: string, read: () => SizedDocument | null): StoredDocument | null;
  /** Returns those of the documents that are cached. */
  known(collection: string, ids: readonly string[]): StoredDocument[];
  /** Caches a document that a commit has written. The caller calls it before it acknowledges the commit. */
  written(collection: string, written: SizedDocument): void;
  /** Removes documents that a commit may have changed. The caller calls it before it acknowledges the commit. */
  forget(collection: string, ids: Iterable<string>): void;
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

/** Only this process writes, so a cached document is stale at most until the commit that changed it is acknowledged. */
export function makeDocumentCache(): DocumentCache {
  const cache = new LRUCache<string, StoredDocument>({ maxSize: bytesMax });
  const keyOf = (collection: string, id: string): string => `${collection}/${id}`;
  const remember = (key: string, { document, bytes }: SizedDocument): void => {
    cache.set(key, document, { size: bytes + overheadBytes });
  };
  return {
    get: (collection, id, read) => {
      const key = keyOf(collection, id);
      const known = cache.get(key);
      if (known !== undefined) return known;
      const found = read();
      if (found === null) return null;
      remember(key, found);
      return found.document;
    },
    known: (collection, ids) =>
      ids.map((id) => cache.get(keyOf(collection, id))).filter((document) => document !== undefined),
    written: (collection, written) => {
      remember(keyOf(collection, written.document.id), written);
    },
    forget: (collection, ids) => {
      for (const id of ids) cache.delete(keyOf(collection, id));
    },
    forgetAll: () => {
      cache.clear();
    },
  };
}
