import { LRUCache } from 'lru-cache';
import type { StoredDocument } from '../../event-sourcing/read-model-store.js';

/** Documents that were read or written lately, parsed. */
export interface DocumentCache {
  /** The remembered document, or what `read` finds, which is remembered from then on. */
  get(collection: string, id: string, read: () => SizedDocument | null): StoredDocument | null;
  /** The remembered ones of these documents. */
  known(collection: string, ids: readonly string[]): StoredDocument[];
  /** To be called for a document that a commit has written, before anybody hears of the commit. */
  written(collection: string, written: SizedDocument): void;
  /** To be called for every other document that a commit may have changed, before anybody hears of the commit. */
  forget(collection: string, ids: Iterable<string>): void;
  forgetAll(): void;
}

/** A document and the length of its stored text. */
export interface SizedDocument {
  readonly document: StoredDocument;
  readonly bytes: number;
}

const bytesMax = 16 * 1024 * 1024;
/** What a document costs beside its text. */
const overheadBytes = 200;

/**
 * Only one process writes to an embedded store, and it hears of every commit: what is remembered is what is stored, or
 * what was stored while the commit had not been acknowledged to anybody.
 */
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
