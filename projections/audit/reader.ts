import type {
  AuditHistory,
  EventTerms,
  IndexedEvent,
  Moment,
} from '../../src/areas/audit/history/history.js';
import type { ProjectOf } from '../../src/areas/audit/history/project-of.js';
import { StoreUnavailable } from '../../src/event-sourcing/ports/errors.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { elementsOfRecord, type Pace, processPace } from '../../src/kit/read-in-turns.js';
import type { Projection } from '../../src/event-sourcing/views/projection.js';
import { beginViewsFold, type FoldedViews } from './fold-views.js';
import type { AuditEventResource } from './resource.js';
import { everyAggregate, wordsOf } from './words.js';

/** A search as auditors ask for it. `from` and `to` are included. */
interface AuditSearch {
  readonly terms: EventTerms;
  readonly from?: Moment | undefined;
  readonly to?: Moment | undefined;
  /** `next` of the page before. */
  readonly before?: number | undefined;
  readonly limit: number;
}

/** Reads the audit log for people. `size` is the signed size; no later event shows. @throws StoreUnavailable */
export type AuditReader = ReturnType<typeof makeAuditReader>;

const streamPage = 500;

/** Every type of events, in order. */
export const eventTypes: readonly string[] = everyAggregate.flatMap(({ codec }) => codec.types).sort();

/** Makes the reader. It cannot open sealed values: it has no sealer. */
export function makeAuditReader(deps: {
  readonly history: AuditHistory;
  readonly eventStore: Pick<EventStore, 'read'>;
  readonly projectOf: ProjectOf;
  readonly views: readonly Projection[];
  readonly pace?: Pace;
}) {
  const { history, eventStore, projectOf, views, pace = processPace } = deps;
  return {
    events: async ({ terms, from, to, before = Infinity, limit }: AuditSearch, size: number) => {
      const [first, end] = await Promise.all([firstOf(from, size), endOf(to, size)]);
      const search = { terms, from: first, before: Math.min(before, end), limit };
      const { events, next } = await history.search(search, size);
      const items: AuditEventResource[] = [];
      for (const event of events) {
        const turn = pace.spend({ bytes: 0, elements: elementsOfRecord });
        if (turn !== undefined) await turn;
        items.push(await resourceOfEvent(event));
      }
      return { items, next };
    },
    /**
     * Folds a stream's events up to a moment: see `beginViewsFold`. Returns null if the stream did not exist then.
     * @param at an index must be below `size`
     */
    streamAsOf: async (stream: string, at: Moment, size: number) => {
      const index = 'index' in at ? at.index : await history.indexAt(at.time, size);
      const revision = index === null ? null : await history.revisionAt(stream, index, size);
      if (index === null || revision === null) return null;
      return { stream, index, revision: Number(revision), ...(await foldUpTo(stream, revision)) };
    },
    /** Returns the project of an event's stream; null for none. @param index below `size` */
    projectAt: async (index: number, size: number) => projectOf(await history.locate(index, size)),
  };

  async function firstOf(from: Moment | undefined, size: number): Promise<number> {
    if (from === undefined) return 0;
    if ('index' in from) return from.index;
    // Times have milliseconds. Events up to the millisecond before do not show.
    return history.countUntil(new Date(from.time.getTime() - 1), size);
  }

  /** Returns one more than the highest index. */
  async function endOf(to: Moment | undefined, size: number): Promise<number> {
    if (to === undefined) return size;
    return 'index' in to ? to.index + 1 : history.countUntil(to.time, size);
  }

  async function resourceOfEvent({ index, event }: IndexedEvent): Promise<AuditEventResource> {
    const { id, stream, revision, type, recordedAt, data, metadata } = event;
    return {
      index,
      words: wordsOf(event),
      project_id: await projectOf(event),
      event: {
        ...{ id, stream, revision: Number(revision), type, recorded_at: recordedAt.toISOString() },
        ...{ data: { ...data }, metadata: { ...metadata } },
      },
    };
  }

  /** Reads page by page and yields between events: no stream has a bound. */
  async function foldUpTo(stream: string, revision: bigint): Promise<FoldedViews> {
    const fold = beginViewsFold(views, stream);
    for (let next = 0n; next <= revision;) {
      const limit = Math.min(streamPage, Number(revision - next) + 1);
      const page = await eventStore.read(stream, { from: next, limit });
      // A deposed leader of the log may lack some for a moment. The reply would show an older state as that of the revision.
      if (page.length < limit) throw new StoreUnavailable('the log does not return all events of a stream');
      for (const event of page) {
        const turn = pace.spend({ bytes: 0, elements: elementsOfRecord });
        if (turn !== undefined) await turn;
        fold.add(event);
      }
      next += BigInt(page.length);
    }
    return fold.folded();
  }
}
