import { LRUCache } from 'lru-cache';
import { appendDurably, defaultLimits } from './append-durably.js';
import { backoff, type Clock, type Random } from './clock.js';
import type { CommandContext, CommandHandler, Handled, HandleOptions } from './command-handler.js';
import { type Aggregate, streamName } from './decider.js';
import type { DocumentWriter } from './document-writer.js';
import type { DomainEvent, NewEvent } from './domain-event.js';
import { Overloaded, PreconditionFailed, WrongExpectedRevision } from './errors.js';
import type { EventStore } from './event-store.js';
import { evolveDecoded, evolveDocument } from './fold-documents.js';
import { eventId } from './ids.js';
import type { StoredDocument } from './read-model-store.js';
import { readStream } from './read-stream.js';
import { makeKeyedQueue } from './stream-queue.js';

/** A stream folded as far as it was read from the store: its aggregate's state and its views' documents. */
interface Folded<State> {
  readonly state: State;
  readonly revision: bigint | null;
  readonly documents: ReadonlyMap<string, StoredDocument>;
}

const triesMax = 20;

export function makeCommandHandler(deps: {
  readonly eventStore: EventStore;
  readonly documentWriter: DocumentWriter;
  readonly clock: Clock;
  readonly random: Random;
  /** How many folded streams are kept in memory. */
  readonly cachedStreamsMax?: number;
}): CommandHandler {
  const { eventStore, documentWriter, clock, random, cachedStreamsMax = 10_000 } = deps;
  // Keyed by stream; a stream belongs to one aggregate, so the state is always of the type that its aggregate folds.
  const cache = new LRUCache<string, Folded<unknown>>({ max: cachedStreamsMax });
  const queued = makeKeyedQueue({ waitingMax: 1_000 });

  return {
    load: async (aggregate, id) => {
      const { state, revision } = await fold(aggregate, streamName(aggregate.category, id));
      return { state, revision };
    },
    handle: ({ aggregate, id }, command, context, options = {}) => {
      const stream = streamName(aggregate.category, id);
      return queued(stream, () => decideAndAppend({ aggregate, stream }, command, context, options));
    },
  };

  async function decideAndAppend<State, Command, Event extends DomainEvent>(
    target: { readonly aggregate: Aggregate<State, Command, Event>; readonly stream: string },
    command: Command,
    context: CommandContext,
    options: HandleOptions,
  ): Promise<Handled<Event>> {
    const { aggregate, stream } = target;
    for (let attempt = 0; attempt < triesMax; attempt += 1) {
      // 1. Load and fold. 2. Decide.
      const before = await fold(aggregate, stream);
      if (options.expectedRevision !== undefined && options.expectedRevision !== before.revision) {
        throw new PreconditionFailed('the resource has changed since the revision named in If-Match');
      }
      const events = aggregate.decider.decide(command, before.state);
      const newEvents = events.map((event, index) =>
        toNewEvent(aggregate, event, { stream, index, context }),
      );
      // 3. Append at the exact revision; another writer's event there means: load and decide again.
      try {
        if (newEvents.length > 0) {
          const expected = before.revision ?? 'no-stream';
          const { appendTries } = options;
          const limits = appendTries === undefined ? undefined : { ...defaultLimits, tries: appendTries };
          await appendDurably({ eventStore, clock, random }, { stream, expected }, newEvents, limits);
        }
      } catch (error) {
        if (!(error instanceof WrongExpectedRevision)) throw error;
        await clock.sleep(backoff(attempt, random, { first: 2, cap: 200 }));
        continue;
      }
      // 4. Write the documents through. Also for a repetition: whoever came first may not have got this far.
      const after = foldNew(aggregate, { ...before, stream }, newEvents);
      const written = documentWriter.write(after.documents, { mustSucceed: options.revokesAccess === true });
      if (options.isUrgent !== true) await written;
      return { events, revision: after.revision, documents: after.documents };
    }
    throw new Overloaded(`a command lost ${triesMax} races for its stream`);
  }

  /** The stream as it is now: what was folded before, brought up to date by reading only what follows. */
  async function fold<State, Command, Event extends DomainEvent>(
    aggregate: Aggregate<State, Command, Event>,
    stream: string,
  ): Promise<Folded<State>> {
    const cached = cache.get(stream) as Folded<State> | undefined;
    let folded: Folded<State> = cached ?? {
      state: aggregate.decider.initialState,
      revision: null,
      documents: new Map(),
    };
    const from = folded.revision === null ? 0n : folded.revision + 1n;
    const following = await readStream(eventStore, stream, from);
    if (following.length === 0) return folded;
    const documents = new Map(folded.documents);
    let { state, revision } = folded;
    for (const event of following) {
      state = aggregate.decider.evolve(state, aggregate.codec.decode(event));
      revision = event.revision;
      for (const view of documentWriter.viewsOf(aggregate.category)) {
        documents.set(view.name, evolveDocument(view, documents.get(view.name) ?? null, event));
      }
    }
    folded = { state, revision, documents };
    cache.set(stream, folded);
    return folded;
  }

  /**
   * The documents after events that were just appended. They are not kept in the cache: the store's recorded time, which
   * decisions may use, is known only when the events are read back.
   */
  function foldNew<State, Command, Event extends DomainEvent>(
    aggregate: Aggregate<State, Command, Event>,
    before: Folded<State> & { readonly stream: string },
    events: readonly NewEvent[],
  ): Pick<Folded<State>, 'revision' | 'documents'> {
    const documents = new Map(before.documents);
    let revision = before.revision;
    for (const event of events) {
      revision = revision === null ? 0n : revision + 1n;
      // Its payload has just been checked, so nothing is decoded.
      const recorded = { ...event, stream: before.stream, revision, time: event.metadata.time };
      for (const view of documentWriter.viewsOf(aggregate.category)) {
        documents.set(view.name, evolveDecoded(view, documents.get(view.name) ?? null, recorded));
      }
    }
    return { revision, documents };
  }
}

function toNewEvent<State, Command, Event extends DomainEvent>(
  aggregate: Aggregate<State, Command, Event>,
  event: Event,
  { stream, index, context }: { stream: string; index: number; context: CommandContext },
): NewEvent {
  return {
    id: eventId(context.commandId, stream, index),
    ...aggregate.codec.encode(event),
    metadata: {
      command_id: context.commandId,
      causation_id: context.causationId,
      correlation_id: context.correlationId,
      actor: context.actor,
      time: context.time.toISOString(),
    },
  };
}
