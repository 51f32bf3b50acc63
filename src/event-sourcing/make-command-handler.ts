import { appendDurably, defaultLimits } from './append-durably.js';
import { backoff, type Clock, type Random } from './clock.js';
import type { CommandContext, CommandHandler, Handled, HandleOptions } from './command-handler.js';
import { streamName } from './decider.js';
import type { DocumentWriter } from './document-writer.js';
import type { DomainEvent } from './domain-event.js';
import { CommandRejected, Overloaded, PreconditionFailed, WrongExpectedRevision } from './errors.js';
import type { EventStore } from './event-store.js';
import { type Encoded, type Folded, makeFoldedStreams, type Target } from './folded-streams.js';
import { eventId } from './ids.js';
import { makeKeyedQueue } from './stream-queue.js';

const triesMax = 20;

export function makeCommandHandler(deps: {
  readonly eventStore: EventStore;
  readonly documentWriter: Pick<DocumentWriter, 'viewsOf' | 'write'>;
  readonly clock: Clock;
  readonly random: Random;
  /** How many folded streams are kept in memory. */
  readonly cachedStreamsMax?: number;
}): CommandHandler {
  const { eventStore, documentWriter, clock, random, cachedStreamsMax = 10_000 } = deps;
  const streams = makeFoldedStreams({ eventStore, documentWriter, streamsMax: cachedStreamsMax });
  const queued = makeKeyedQueue({ waitingMax: 1_000 });

  return {
    load: async (aggregate, id, { suffices = () => false } = {}) => {
      const target = { aggregate, stream: streamName(aggregate.category, id) };
      const known = streams.remembered(target);
      const { state, revision } = known !== null && suffices(known) ? known : await streams.current(target);
      return { state, revision };
    },
    handle: ({ aggregate, id }, command, context, options = {}) => {
      const stream = streamName(aggregate.category, id);
      return queued(stream, () => decideAndAppend({ aggregate, stream }, command, context, options));
    },
  };

  async function decideAndAppend<State, Command, Event extends DomainEvent>(
    target: Target<State, Command, Event>,
    command: Command,
    context: CommandContext,
    options: HandleOptions,
  ): Promise<Handled<Event>> {
    const run: Run<State, Command, Event> = { target, command, context, options };
    const guessed = await appendOnGuess(run);
    if (guessed !== null) return guessed;
    for (let attempt = 0; attempt < triesMax; attempt += 1) {
      // 1. Load and fold. 2. Decide.
      const before = await streams.current(target);
      if (options.expectedRevision !== undefined && options.expectedRevision !== before.revision) {
        throw new PreconditionFailed('the resource has changed since the revision named in If-Match');
      }
      const events = target.aggregate.decider.decide(command, before.state);
      // 3. Append at the exact revision; another writer's event there means: load and decide again.
      const handled = await append(run, before, events);
      if (handled !== null) return handled;
      await clock.sleep(backoff(attempt, random, { first: 2, cap: 200 }));
    }
    throw new Overloaded(`a command lost ${triesMax} races for its stream`);
  }

  /** What the command comes to without reading, where that is certain: null leaves it to be decided on what is read. */
  async function appendOnGuess<State, Command, Event extends DomainEvent>(
    run: Run<State, Command, Event>,
  ): Promise<Handled<Event> | null> {
    const before = guess(run);
    if (before === null) return null;
    const { expectedRevision } = run.options;
    if (expectedRevision !== undefined && expectedRevision !== before.revision) return null;
    const events = decideOnGuess(run, before);
    return events.length === 0 ? null : append(run, before, events);
  }

  function guess<State, Command, Event extends DomainEvent>({
    target,
    options,
  }: Run<State, Command, Event>): Folded<State> | null {
    if (options.guess === undefined) return null;
    const known = streams.remembered(target);
    if (known !== null) return known.hasGoneOn ? null : known;
    const { initialState } = target.aggregate.decider;
    return options.guess === 'new' ? { state: initialState, revision: null, documents: new Map() } : null;
  }

  /** @returns null when another event stands where these were to be */
  async function append<State, Command, Event extends DomainEvent>(
    { target, context, options }: Run<State, Command, Event>,
    before: Folded<State>,
    events: readonly Event[],
  ): Promise<Handled<Event> | null> {
    const newEvents = events.map((event, index) => toNewEvent(target, event, { index, context }));
    try {
      if (newEvents.length > 0) {
        const { stream } = target;
        const expected = before.revision ?? 'no-stream';
        const { appendTries } = options;
        const limits = appendTries === undefined ? undefined : { ...defaultLimits, tries: appendTries };
        await appendDurably({ eventStore, clock, random }, { stream, expected }, newEvents, limits);
      }
    } catch (error) {
      if (error instanceof WrongExpectedRevision) return null;
      throw error;
    }
    // 4. Write the documents through. Also for a repetition: whoever came first may not have got this far.
    const after = streams.appended(target, before, {
      events: newEvents,
      isKept: options.guess !== undefined,
    });
    if (after.documents.size > 0 && options.leavesDocuments !== true) {
      const written = documentWriter.write(after.documents, { mustSucceed: options.revokesAccess === true });
      if (options.isUrgent !== true) await written;
    }
    return { events, revision: after.revision, documents: after.documents };
  }
}

/** A command on its way. */
interface Run<State, Command, Event extends DomainEvent> {
  readonly target: Target<State, Command, Event>;
  readonly command: Command;
  readonly context: CommandContext;
  readonly options: HandleOptions;
}

/** What may be behind refuses nobody. */
function decideOnGuess<State, Command, Event extends DomainEvent>(
  { target, command }: Run<State, Command, Event>,
  { state }: Folded<State>,
): readonly Event[] {
  try {
    return target.aggregate.decider.decide(command, state);
  } catch (error) {
    if (error instanceof CommandRejected) return [];
    throw error;
  }
}

function toNewEvent<State, Command, Event extends DomainEvent>(
  { aggregate, stream }: Target<State, Command, Event>,
  event: Event,
  { index, context }: { readonly index: number; readonly context: CommandContext },
): Encoded<Event> {
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
