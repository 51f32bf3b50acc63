import type { JsonObject, StoredEvent } from '../../src/event-sourcing/ports/domain-event.js';
import { UndecodableEvent } from '../../src/event-sourcing/ports/errors.js';
import type { StoredDocument } from '../../src/event-sourcing/ports/read-model-store.js';
import { parseStreamName } from '../../src/event-sourcing/ports/stream-name.js';
import { evolveDocument } from '../../src/event-sourcing/views/fold-documents.js';
import type { AnyProjection } from '../../src/event-sourcing/views/projection.js';

/** The documents of a stream by the names of its views. */
export interface FoldedViews {
  /** Null while a view shows nothing. */
  readonly views: Record<string, JsonObject | null>;
  /** The views that could not take in every event: the last revision in the document, null for none, and why. */
  readonly set_apart: Record<string, { revision: number | null; reason: string }>;
}

/**
 * Folds the first events of a stream through each view of its category. Totals over many streams are no such view. At an
 * event that this version cannot decode, a document stays as it was before: docs/design.md#undecodable-events.
 */
export function foldViews(
  projections: readonly AnyProjection[],
  stream: string,
  events: readonly StoredEvent[],
): FoldedViews {
  const category = parseStreamName(stream)?.category;
  const folded: FoldedViews = { views: {}, set_apart: {} };
  for (const view of projections.filter((candidate) => candidate.category === category)) {
    const { document, reason } = fold(view, events);
    folded.views[view.name] = document?.body ?? null;
    if (reason === null) continue;
    folded.set_apart[view.name] = { revision: document === null ? null : Number(document.revision), reason };
  }
  return folded;
}

function fold(
  view: AnyProjection,
  events: readonly StoredEvent[],
): { readonly document: StoredDocument | null; readonly reason: string | null } {
  let document: StoredDocument | null = null;
  try {
    for (const event of events) document = evolveDocument(view, document, event);
    return { document, reason: null };
  } catch (error) {
    if (!(error instanceof UndecodableEvent)) throw error;
    return { document, reason: error.message };
  }
}
