import type { Aggregate } from './decider.js';
import type { DocumentWriter } from './document-writer.js';
import type { DomainEvent, NewEvent, Recorded, StoredEvent } from './domain-event.js';
import type { EventStore } from './event-store.js';
import { evolveDecoded, evolveDocument } from './fold-documents.js';
import { makeLru } from './lru.js';
import type { StoredDocument } from './read-model-store.js';
import { readStream } from './read-stream.js';

/** A stream as it was at a revision, for good: its aggregate's state and its views' documents. */
export interface Folded<State> {
  readonly state: State;
  /** Null: there was no such stream. */
  readonly revision: bigint | null;
  readonly documents: ReadonlyMap<string, StoredDocument>;
}

export interface Target<State, Command, Event extends DomainEvent> {
  readonly aggregate: Aggregate<State, Command, Event>;
  readonly stream: string;
}

/** An event that is about to be appended, or has just been. */
export type Encoded<Event extends DomainEvent> = Event & NewEvent;

/** What a process remembers of streams: each as it was at some revision, of which it may be behind by now. */
export interface FoldedStreams {
  /** The stream as it is now: what is remembered, brought up to date by reading what follows. */
  current<State, Command, Event extends DomainEvent>(
    target: Target<State, Command, Event>,
  ): Promise<Folded<State>>;
  /** As it was when last looked at; null when it is not remembered. `hasGoneOn`: it is known not to end there any more. */
  remembered<State, Command, Event extends DomainEvent>(
    target: Target<State, Command, Event>,
  ): (Folded<State> & { readonly hasGoneOn: boolean }) | null;
  /**
   * To be called when events were appended to what was folded before.
   * @param appended `isKept`: these and no others of the same ids are what stands there, so they need not be read back
   * @returns revision and documents after them
   */
  appended<State, Command, Event extends DomainEvent>(
    target: Target<State, Command, Event>,
    before: Folded<State>,
    appended: { readonly events: readonly Encoded<Event>[]; readonly isKept: boolean },
  ): Pick<Folded<State>, 'revision' | 'documents'>;
}

/** @param deps.streamsMax how many are remembered */
export function makeFoldedStreams({
  eventStore,
  documentWriter,
  streamsMax,
}: {
  readonly eventStore: EventStore;
  readonly documentWriter: Pick<DocumentWriter, 'viewsOf'>;
  readonly streamsMax: number;
}): FoldedStreams {
  // Keyed by stream; a stream belongs to one aggregate, so the state is always of the type that its aggregate folds.
  const cache = makeLru<Folded<unknown> & { readonly hasGoneOn: boolean }>(streamsMax);

  return { current, remembered, appended };

  async function current<State, Command, Event extends DomainEvent>(
    target: Target<State, Command, Event>,
  ): Promise<Folded<State>> {
    const { aggregate, stream } = target;
    const before: Folded<State> = remembered(target) ?? {
      state: aggregate.decider.initialState,
      revision: null,
      documents: new Map(),
    };
    const from = before.revision === null ? 0n : before.revision + 1n;
    const following = await readStream(eventStore, stream, from);
    const folded = following.reduce((reached, event) => foldStored(aggregate, reached, event), before);
    if (folded.revision !== null) remember(stream, folded, { hasGoneOn: false });
    return folded;
  }

  function remembered<State, Command, Event extends DomainEvent>({
    stream,
  }: Target<State, Command, Event>): (Folded<State> & { readonly hasGoneOn: boolean }) | null {
    return (cache.get(stream) as (Folded<State> & { readonly hasGoneOn: boolean }) | undefined) ?? null;
  }

  function appended<State, Command, Event extends DomainEvent>(
    { aggregate, stream }: Target<State, Command, Event>,
    before: Folded<State>,
    { events, isKept }: { readonly events: readonly Encoded<Event>[]; readonly isKept: boolean },
  ): Pick<Folded<State>, 'revision' | 'documents'> {
    const after = events.reduce((reached, event) => foldNew(aggregate, reached, { event, stream }), before);
    if (events.length === 0) return after;
    if (isKept && aggregate.followsStoreTime !== true) remember(stream, after, { hasGoneOn: false });
    else if (before.revision !== null) remember(stream, before, { hasGoneOn: true });
    return after;
  }

  /** Loads run beside commands: whoever is further stays. */
  function remember(stream: string, folded: Folded<unknown>, { hasGoneOn }: { hasGoneOn: boolean }): void {
    const earlier = cache.get(stream)?.revision ?? -1n;
    const { state, revision, documents } = folded;
    if ((revision ?? -1n) >= earlier) cache.set(stream, { state, revision, documents, hasGoneOn });
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
      // Mostly they share a codec, and nothing is decoded twice.
      const isDecoded = Object.is(view.codec, codec);
      const next = isDecoded ? evolveDecoded(view, document, event) : evolveDocument(view, document, stored);
      documents.set(view.name, next);
    }
    return { state: decider.evolve(before.state, event), revision: event.revision, documents };
  }

  /** Its payload has just been checked, so nothing is decoded. */
  function foldNew<State, Command, Event extends DomainEvent>(
    aggregate: Aggregate<State, Command, Event>,
    before: Folded<State>,
    { event, stream }: { readonly event: Encoded<Event>; readonly stream: string },
  ): Folded<State> {
    const revision = before.revision === null ? 0n : before.revision + 1n;
    const recorded: Recorded<Event> = { stream, revision, time: event.metadata.time, ...event };
    const documents = new Map(before.documents);
    for (const view of documentWriter.viewsOf(aggregate.category)) {
      documents.set(view.name, evolveDecoded(view, documents.get(view.name) ?? null, recorded));
    }
    const state =
      aggregate.followsStoreTime === true ? before.state : aggregate.decider.evolve(before.state, recorded);
    return { state, revision, documents };
  }
}
