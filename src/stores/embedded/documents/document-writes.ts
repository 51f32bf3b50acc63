import { assertDocumentFits, maxDocumentBytes } from '../../../event-sourcing/ports/document-size.js';
import type { DocumentWrite, WriteOutcome } from '../../../event-sourcing/ports/read-model-store.js';
import type { DocumentRow, ReadModelReply } from './read-model-writer.js';

/** A body with at most so many characters of JSON fits: no character counts for more than 9 bytes. */
const surelyFits = maxDocumentBytes / 9;

/**
 * Encodes the writes of one call.
 * @param options.withParsed whether the rows also hold the bodies, for a writer on the same thread
 * @throws DocumentTooLarge; TypeError when a document appears twice
 */
export function rowsOf(
  writes: readonly DocumentWrite[],
  { withParsed = false }: { readonly withParsed?: boolean } = {},
): readonly DocumentRow[] {
  const rows = writes.map(({ document: { id, revision, body }, foldedFrom }): DocumentRow => {
    const json = body === null ? null : JSON.stringify(body);
    if ((json?.length ?? 0) > surelyFits) assertDocumentFits({ id, body });
    const from = foldedFrom === 'whole-stream' ? null : foldedFrom;
    return withParsed ? [id, revision, json, from, body] : [id, revision, json, from];
  });
  if (new Set(rows.map(([id]) => id)).size < rows.length) {
    throw new TypeError('a document appears twice in one call');
  }
  return rows;
}

/** Returns the outcomes of a `write` request, in the order of its documents. */
export function outcomesOf(reply: ReadModelReply): readonly WriteOutcome[] {
  return Array.isArray(reply) ? reply.map((applied) => (applied === true ? 'applied' : 'refused')) : [];
}
