import { makeLru } from '../../kit/lru.js';
import { assertDocumentFits, maxDocumentBytes } from '../ports/document-size.js';
import { maxEventBytes } from '../ports/event-store.js';
import type { StoredDocument } from '../ports/read-model-store.js';

/** A stream with its documents after the events that a command would append. */
interface Grown {
  readonly revision: bigint | null;
  readonly documents: ReadonlyMap<string, StoredDocument>;
}

/** Refuses a command that would make a document larger than a store accepts. @throws DocumentTooLarge */
export type DocumentGuard = (stream: string, after: Grown) => void;

/** The most by which an event lengthens a document. A number of 2 bytes in a list of JSON takes up to 17 in BSON. */
const growthMax = 9 * maxEventBytes;

/**
 * Makes the guard. It measures the documents of a stream only when its events since the last measurement could have
 * made them too large, because a measurement of a large document costs as much as its command.
 */
export function makeDocumentGuard(): DocumentGuard {
  const measured = makeLru<{ readonly revision: bigint; readonly bytes: number }>(10_000);
  return (stream, { revision, documents }) => {
    if (revision === null) return;
    const last = measured.get(stream) ?? { revision: -1n, bytes: 0 };
    const bytesMax = last.bytes + Number(revision - last.revision) * growthMax;
    if (bytesMax <= maxDocumentBytes) return;
    const bytes = Math.max(0, ...Array.from(documents.values(), assertDocumentFits));
    measured.set(stream, { revision, bytes });
  };
}
