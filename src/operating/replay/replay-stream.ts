import type { IndexedEvent, Moment } from '../../areas/audit/history/history.js';
import { logUntil, ReplayProblem } from '../../areas/audit/tree/log-until.js';
import type { JsonObject, StoredEvent } from '../../event-sourcing/ports/domain-event.js';
import { foldViews } from '../../../projections/audit/fold-views.js';
import { wordsOf } from '../../../projections/audit/words.js';
import { projections } from '../../../projections/index.js';
import type { OnShare } from '../backup/backup.js';
import type { ReplaySource } from './replay-source.js';

/** The history of a stream, and its documents at the end of it. Sealed values are sealed. */
export type StreamReplay = {
  readonly stream: string;
  /** Of the last event of the log that counts. */
  readonly index: number;
  readonly events: readonly {
    readonly index: number;
    readonly revision: number;
    readonly recorded_at: string;
    readonly actor: string;
    readonly type: string;
    readonly words: string;
  }[];
  readonly views: JsonObject;
  readonly set_apart: JsonObject;
};

/**
 * Reads the history of one stream from a log, up to a moment.
 * @throws ReplayProblem when the stream did not exist then; StoreUnavailable, StoreDamaged
 */
export async function replayStream(
  source: Pick<ReplaySource, 'parts'>,
  input: { readonly stream: string; readonly until: Moment | null; readonly onShare: OnShare },
): Promise<StreamReplay> {
  const { stream, until, onShare } = input;
  const found: IndexedEvent<StoredEvent>[] = [];
  let last = -1;
  for await (const { events, share } of logUntil(source.parts(), until)) {
    found.push(...events.filter(({ event }) => event.stream === stream));
    last = events.at(-1)?.index ?? last;
    onShare(share);
  }
  if (found.length === 0) {
    throw new ReplayProblem(`the log has no event of the stream ${JSON.stringify(stream)} until then`);
  }
  return {
    ...{ stream, index: last },
    events: found.map(({ index, event }) => ({
      ...{ index, revision: Number(event.revision), recorded_at: event.recordedAt.toISOString() },
      // Another program's event may have no actor.
      actor: typeof event.metadata.actor === 'string' ? event.metadata.actor : '',
      ...{ type: event.type, words: wordsOf(event) },
    })),
    ...foldViews(
      projections,
      stream,
      found.map(({ event }) => event),
    ),
  };
}
