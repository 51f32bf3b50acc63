import {
  type JsonObject,
  type StoredEvent,
  parseStreamName,
} from '../../src/event-sourcing/ports/domain-event.js';
import { UndecodableEvent } from '../../src/event-sourcing/ports/errors.js';
import type { StoredDocument } from '../../src/event-sourcing/ports/read-model-store.js';
import { evolveDocument, type Projection } from '../../src/event-sourcing/views/projection.js';

const projectStream = /^project-(.+)$/;

/**
 * Returns the id of the project that a stream belongs to; null for none. The first event of a storage, asset, share, order,
 * access to a share or mail of a share names its project in `project_id`.
 */
export function projectOfFirstEvent({ stream, data }: Pick<StoredEvent, 'stream' | 'data'>): string | null {
  const named = data['project_id'];
  return typeof named === 'string' ? named : (projectStream.exec(stream)?.[1] ?? null);
}

/** The documents of a stream by the names of its views. */
export interface FoldedViews {
  /** Null while a view shows nothing. */
  readonly views: Record<string, JsonObject | null>;
  /** The views that could not take in every event: the last revision in the document, null for none, and why. */
  readonly set_apart: Record<string, { revision: number | null; reason: string }>;
}

interface ViewFold {
  readonly view: Projection;
  document: StoredDocument | null;
  reason: string | null;
}

/**
 * Begins to fold a stream through each view of its category. Totals over many streams are no such view. At an event that this
 * version cannot decode, a document stays as it was before: src/event-sourcing/feeding/README.md#undecodable-events.
 */
export function beginViewsFold(projections: readonly Projection[], stream: string) {
  const category = parseStreamName(stream)?.category;
  const folds = projections
    .filter((candidate) => candidate.category === category)
    .map((view): ViewFold => ({ view, document: null, reason: null }));
  return {
    add: (event: StoredEvent) => {
      for (const fold of folds) addTo(fold, event);
    },
    folded: (): FoldedViews => {
      const folded: FoldedViews = { views: {}, set_apart: {} };
      for (const { view, document, reason } of folds) {
        folded.views[view.name] = document?.body ?? null;
        if (reason === null) continue;
        folded.set_apart[view.name] = {
          revision: document === null ? null : Number(document.revision),
          reason,
        };
      }
      return folded;
    },
  };
}

/** Folds all of a stream at once. */
export function foldViews(
  projections: readonly Projection[],
  stream: string,
  events: readonly StoredEvent[],
): FoldedViews {
  const fold = beginViewsFold(projections, stream);
  for (const event of events) fold.add(event);
  return fold.folded();
}

function addTo(fold: ViewFold, event: StoredEvent): void {
  if (fold.reason !== null) return;
  try {
    fold.document = evolveDocument(fold.view, fold.document, fold.view.codec.decode(event));
  } catch (error) {
    if (!(error instanceof UndecodableEvent)) throw error;
    fold.reason = error.message;
  }
}
