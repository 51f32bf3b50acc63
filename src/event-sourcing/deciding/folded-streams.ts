import type { Aggregate, Evolving, Load } from './command-handler.js';
import type { DocumentWriter } from '../views/document-writer.js';
import type { DomainEvent, NewEvent, StoredEvent } from '../ports/domain-event.js';
import { type EventStore, maxEventBytes } from '../ports/event-store.js';
import { evolveDocument } from '../views/projection.js';
import { type FoldSize, grownSize, makeLru, makeSizedLru, objectBytesPerJsonByte } from '../../kit/lru.js';
import { eventBytes, readStream } from '../feeding/read-log.js';
import { type StoredDocument, assertDocumentFits, maxDocumentBytes } from '../ports/read-model-store.js';

/** A stream with its documents after the events that a command would append. */
interface Grown {
  readonly revision: bigint | null;
  readonly documents: ReadonlyMap<string, StoredDocument>;
}

/** Refuses a command that would make a document larger than a store accepts. @throws DocumentTooLarge */
type DocumentGuard = (stream: string, after: Grown) => void;

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

/** A stream folded up to a revision: its aggregate's state and its views' documents. */
export interface Folded<State> {
  readonly state: State;
  /** Null: the stream does not exist. */
  readonly revision: bigint | null;
  readonly documents: ReadonlyMap<string, StoredDocument>;
  /** Of the state and the documents: an event adds at most about its data to each. */
  readonly size: FoldSize;
}

export interface Target<State, Command, Event extends DomainEvent> {
  readonly aggregate: Aggregate<State, Command, Event>;
  readonly stream: string;
}

/** An event that the command appends or has just appended. */
export type Encoded<Event extends DomainEvent> = Event & NewEvent;

/** What a fold becomes by events that are appended next. */
export interface Extended<State> extends Folded<State> {
  /** Whether a fold has asked when the store records an event, which only a read shows. */
  readonly dependsOnTime: boolean;
}

/**
 * Makes the folded streams of a process, cached by revision. The cache holds only events that the log contains.
 * @param deps.streamsMax streams in the cache
 * @param deps.bytesMax the bytes of their states and documents, about
 */
export function makeFoldedStreams({
  eventStore,
  documentWriter,
  streamsMax,
  bytesMax,
}: {
  readonly eventStore: EventStore;
  readonly documentWriter: Pick<DocumentWriter, 'viewsOf'>;
  readonly streamsMax: number;
  readonly bytesMax: number;
}) {
  // By stream. A stream belongs to one aggregate, so the cast in `find` is safe.
  const cache = makeSizedLru<Folded<unknown>>({
    ...{ entriesMax: streamsMax, bytesMax },
    bytesOf: ({ size }) => objectBytesPerJsonByte * size.bytes,
  });

  return { latest, cached, extended, keep };

  /** Folds the events after the cached revision, page by page, and caches the fold. */
  async function latest<State, Command, Event extends DomainEvent>(
    target: Target<State, Command, Event>,
  ): Promise<Folded<State>> {
    const { aggregate, stream } = target;
    let reached = find(target) ?? absent(aggregate);
    const from = reached.revision === null ? 0n : reached.revision + 1n;
    for await (const page of readStream(eventStore, stream, from)) {
      const folded = page.reduce((before, event) => foldStored(aggregate, before, event), reached);
      reached = { ...folded, size: sizeAfter(reached.size, folded, page) };
    }
    store(stream, reached);
    return reached;
  }

  /** Loads and commands run concurrently: the later revision stays. */
  function store(stream: string, folded: Folded<unknown>): void {
    if (folded.revision !== null && folded.revision >= (cache.get(stream)?.revision ?? -1n)) {
      cache.set(stream, folded);
    }
  }

  /** Returns the state that `load` decides on without a read; null when it needs a read. */
  function cached<State, Command, Event extends DomainEvent>(
    target: Target<State, Command, Event>,
    load: Load,
  ): Folded<State> | null {
    if (load === 'latest') return null;
    return find(target) ?? (load === 'new' ? absent(target.aggregate) : null);
  }

  function find<State, Command, Event extends DomainEvent>({
    stream,
  }: Target<State, Command, Event>): Folded<State> | null {
    return (cache.get(stream) as Folded<State> | undefined) ?? null;
  }

  /** Folds events that are appended next. */
  function extended<State, Command, Event extends DomainEvent>(
    { aggregate, stream }: Target<State, Command, Event>,
    before: Folded<State>,
    events: readonly Encoded<Event>[],
  ): Extended<State> {
    const views = documentWriter.viewsOf(aggregate.category);
    const documents = new Map(before.documents);
    let { revision } = before;
    let timesUsed = 0;
    // `encode` has checked the payloads, so no decoding is needed.
    const evolving = events.map((event): Evolving<Event> => {
      revision = revision === null ? 0n : revision + 1n;
      const { time } = event.metadata;
      return {
        ...event,
        stream,
        revision,
        time,
        get recordedAt() {
          timesUsed += 1;
          return new Date(time);
        },
      };
    });
    for (const event of evolving) {
      for (const view of views) {
        documents.set(view.name, evolveDocument(view, documents.get(view.name) ?? null, event));
      }
    }
    const state = evolving.reduce(aggregate.decider.evolve, before.state);
    const size = sizeAfter(before.size, { state, documents }, events);
    return { state, revision, documents, size, dependsOnTime: timesUsed > 0 };
  }

  /**
   * Caches the fold after events that were just appended, without a read. An event id depends on the event's content, and
   * a repeated command has the same time, so the log contains these events even if another attempt wrote them. A state
   * that depends on the recorded time of an event is not cached.
   */
  function keep(stream: string, { dependsOnTime, ...folded }: Extended<unknown>): void {
    if (!dependsOnTime) store(stream, folded);
  }

  function foldStored<State, Command, Event extends DomainEvent>(
    { category, codec, decider }: Aggregate<State, Command, Event>,
    before: Folded<State>,
    stored: StoredEvent,
  ): Folded<State> {
    const event = codec.decode(stored);
    const documents = new Map(before.documents);
    for (const view of documentWriter.viewsOf(category)) {
      const document = documents.get(view.name) ?? null;
      // A view mostly shares the aggregate's codec: decode once.
      const isDecoded = Object.is(view.codec, codec);
      const next = evolveDocument(view, document, isDecoded ? event : view.codec.decode(stored));
      documents.set(view.name, next);
    }
    const state = decider.evolve(before.state, event);
    return { state, revision: event.revision, documents, size: before.size };
  }
}

function sizeAfter(
  before: FoldSize,
  { state, documents }: Pick<Folded<unknown>, 'state' | 'documents'>,
  events: readonly Pick<StoredEvent, 'data'>[],
): FoldSize {
  const added = events.reduce((sum, { data }) => sum + eventBytes({ data }), 0) * (1 + documents.size);
  return added === 0 ? before : grownSize(before, added, () => [state, ...documents.values()]);
}

function absent<State, Command, Event extends DomainEvent>({
  decider,
}: Aggregate<State, Command, Event>): Folded<State> {
  const size = { bytes: 0, measuredBytes: 0 };
  return { state: decider.initialState, revision: null, documents: new Map(), size };
}
