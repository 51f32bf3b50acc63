import {
  type CommandHandler,
  type HandleOptions,
  type Handled,
  requireRevision,
  eventId,
} from './command-handler.js';
import { type AppendLimits, appendDurably, defaultAppendLimits, retryRead } from './append-durably.js';
import { backoff, type Clock, type Random } from '../../kit/time/clock.js';
import type { CommandContext } from '../ports/command-context.js';
import { type DomainEvent, type Position, streamName } from '../ports/domain-event.js';
import type { DocumentWriter } from '../views/document-writer.js';
import {
  CommandRejected,
  PreconditionFailed,
  TargetNotFound,
  WrongExpectedRevision,
} from '../ports/errors.js';
import { Overloaded, makeKeyedMutex } from '../../kit/semaphore.js';
import type { EventStore, FurtherAppend } from '../ports/event-store.js';
import {
  type Encoded,
  type Extended,
  type Folded,
  type Target,
  makeDocumentGuard,
  makeFoldedStreams,
} from './folded-streams.js';
import { traceCommand } from '../../kit/trace.js';

const attemptsMax = 20;

export function makeCommandHandler(deps: {
  readonly eventStore: EventStore;
  readonly documentWriter: Pick<DocumentWriter, 'viewsOf' | 'write' | 'appending'>;
  readonly clock: Clock;
  readonly random: Random;
  /** The limits of an append whose caller sets none. */
  readonly appendLimits?: AppendLimits;
  /** Folded streams in the cache. */
  readonly cachedStreamsMax?: number;
}): CommandHandler {
  const { eventStore, documentWriter, clock, random, appendLimits = defaultAppendLimits } = deps;
  const streams = makeFoldedStreams({
    ...{ eventStore, documentWriter },
    streamsMax: deps.cachedStreamsMax ?? 10_000,
    // Of their states and documents, about.
    bytesMax: 64 * 1024 * 1024,
  });
  const refuseTooLarge = makeDocumentGuard();
  const queued = makeKeyedMutex({ waitingMax: 1_000 });

  return {
    load: async (aggregate, id, load = 'latest') => {
      const target = { aggregate, stream: streamName(aggregate.category, id) };
      const { state, revision } = streams.cached(target, load) ?? (await latest(target));
      return { state, revision };
    },
    handle: ({ aggregate, id }, command, context, options = {}) => {
      const stream = streamName(aggregate.category, id);
      return traceCommand(nameOf(aggregate.category, command), stream, () =>
        queued(stream, () => decideAndAppend({ aggregate, stream }, command, context, options)),
      );
    },
  };

  function latest<State, Command, Event extends DomainEvent>(
    target: Target<State, Command, Event>,
  ): Promise<Folded<State>> {
    return retryRead(() => streams.latest(target), { clock, random });
  }

  async function decideAndAppend<State, Command, Event extends DomainEvent>(
    target: Target<State, Command, Event>,
    command: Command,
    context: CommandContext,
    options: HandleOptions<State>,
  ): Promise<Handled<Event>> {
    const run: Run<State, Command, Event> = { target, command, context, options };
    const early = await appendOnCached(run);
    if (early !== null) return early;
    for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
      // 1. Load and fold. 2. Decide.
      const before = await latest(target);
      const events = await decideOnLatest(run, before);
      // 3. Append at the exact revision. When another writer was faster, load and decide again.
      const handled = await append(run, before, events);
      if (handled !== null) return handled;
      await clock.sleep(backoff(attempt, random, { first: 2, cap: 200 }));
    }
    throw new Overloaded(`a command lost ${attemptsMax} races for its stream`);
  }

  /**
   * Decides. A command that takes access away writes the documents where it is refused, too, also by If-Match: an earlier attempt
   * may have taken the access away, and have stopped before that step.
   */
  async function decideOnLatest<State, Command, Event extends DomainEvent>(
    run: Run<State, Command, Event>,
    before: Folded<State>,
  ): Promise<readonly Event[]> {
    try {
      return decide(run, before);
    } catch (error) {
      const mustWrite = run.options.revokesAccess === true && before.documents.size > 0;
      if (mustWrite && isRefusal(error)) await documentWriter.write(before.documents, { mustSucceed: true });
      throw error;
    }
  }

  /** Decides on cached state and appends. @returns null when the command needs a fresh read */
  async function appendOnCached<State, Command, Event extends DomainEvent>(
    run: Run<State, Command, Event>,
  ): Promise<Handled<Event> | null> {
    const before = streams.cached(run.target, run.options.load ?? 'latest');
    if (before === null) return null;
    const events = decideOnCached(run, before);
    return events.length === 0 ? null : append(run, before, events);
  }

  /** @returns null when another writer appended first */
  async function append<State, Command, Event extends DomainEvent>(
    run: Run<State, Command, Event>,
    before: Folded<State>,
    events: readonly Event[],
  ): Promise<Handled<Event> | null> {
    const encoded = encode(run.target, before, events, run.context);
    return documentWriter.appending(run.target.stream, () => appendEncoded(run, events, encoded));
  }

  async function appendEncoded<State, Command, Event extends DomainEvent>(
    { target, context, options }: Run<State, Command, Event>,
    events: readonly Event[],
    { newEvents, after, at }: EncodedEvents<State, Event>,
  ): Promise<Handled<Event> | null> {
    let position: Position | null = null;
    try {
      if (newEvents.length > 0) {
        const { further, appendTries: tries = appendLimits.tries } = options;
        const appending = {
          ...{ limits: { ...appendLimits, tries }, request: context.request },
          further: further === undefined ? undefined : () => furtherAfter(after.state, further),
        };
        ({ position } = await appendDurably({ eventStore, clock, random }, at, newEvents, appending));
      }
    } catch (error) {
      if (error instanceof WrongExpectedRevision) return null;
      throw error;
    }
    if (newEvents.length > 0) streams.keep(target.stream, after);
    // 4. Write the documents, for a repeated command too: its first attempt may have stopped before this step.
    await writeDocuments(after, newEvents.length > 0, options);
    return {
      events,
      revision: after.revision,
      position,
      documents: after.documents,
    };
  }

  /** An urgent command waits for no documents, so a repeated one leaves them to the projector. */
  async function writeDocuments(
    { documents }: Pick<Folded<unknown>, 'documents'>,
    hasAppended: boolean,
    { isUrgent, revokesAccess }: Pick<HandleOptions<never>, 'isUrgent' | 'revokesAccess'>,
  ): Promise<void> {
    const isWaitedFor = isUrgent !== true;
    if (documents.size === 0 || !(isWaitedFor || hasAppended)) return;
    const written = documentWriter.write(documents, { mustSucceed: revokesAccess === true });
    if (isWaitedFor) await written;
  }

  function encode<State, Command, Event extends DomainEvent>(
    target: Target<State, Command, Event>,
    before: Folded<State>,
    events: readonly Event[],
    context: CommandContext,
  ): EncodedEvents<State, Event> {
    const newEvents = events.map((event, index) => toNewEvent(target, event, { index, context }));
    const after = streams.extended(target, before, newEvents);
    const { stream } = target;
    if (newEvents.length > 0) refuseTooLarge(stream, after);
    const at = { stream, expected: before.revision ?? 'no-stream' } as const;
    return { newEvents, after, at };
  }

  /** Returns no events where they cannot be prepared: the command that comes afterwards reports why. */
  async function furtherAfter<State>(
    state: State,
    further: NonNullable<HandleOptions<State>['further']>,
  ): Promise<FurtherAppend | null> {
    try {
      return await further(state, prepare);
    } catch {
      return null;
    }
  }

  async function prepare<State, Command, Event extends DomainEvent>(
    {
      aggregate,
      id,
    }: { readonly aggregate: Target<State, Command, Event>['aggregate']; readonly id: string },
    command: Command,
    context: CommandContext,
  ): Promise<FurtherAppend | null> {
    const target = { aggregate, stream: streamName(aggregate.category, id) };
    const before = streams.cached(target, 'remembered') ?? (await latest(target));
    const events = decideOnCached({ target, command, context, options: {} }, before);
    if (events.length === 0) return null;
    const { newEvents, after, at } = encode(target, before, events, context);
    const written = (): void => {
      streams.keep(target.stream, after);
      void documentWriter.write(after.documents, { mustSucceed: false });
    };
    return { ...at, events: newEvents, written };
  }
}

/** Names a command in traces. Each aggregate divides its commands by `type`. */
function nameOf(category: string, command: unknown): string {
  const hasType = typeof command === 'object' && command !== null && 'type' in command;
  return hasType ? `${category} ${String(command.type)}` : category;
}

/** Events as they are appended at a revision, and the fold with them. */
interface EncodedEvents<State, Event extends DomainEvent> {
  readonly newEvents: readonly Encoded<Event>[];
  readonly after: Extended<State>;
  readonly at: { readonly stream: string; readonly expected: bigint | 'no-stream' };
}

/** One call of `handle`. */
interface Run<State, Command, Event extends DomainEvent> {
  readonly target: Target<State, Command, Event>;
  readonly command: Command;
  readonly context: CommandContext;
  readonly options: HandleOptions<State>;
}

/** @throws CommandRejected, PreconditionFailed */
function decide<State, Command, Event extends DomainEvent>(
  { target, command, options }: Run<State, Command, Event>,
  { state, revision }: Folded<State>,
): readonly Event[] {
  const { expectedRevision } = options;
  const { decider } = target.aggregate;
  try {
    requireRevision(expectedRevision, revision);
  } catch (failed) {
    // 404 precedes 412: If-Match must not reveal that another project's resource exists.
    try {
      decider.decide(command, state);
    } catch (error) {
      if (error instanceof TargetNotFound || !(error instanceof CommandRejected)) throw error;
    }
    throw failed;
  }
  return decider.decide(command, state);
}

/** Treats a rejection as no events: on cached state it may be stale, so the caller decides again on a fresh read. */
function decideOnCached<State, Command, Event extends DomainEvent>(
  run: Run<State, Command, Event>,
  cached: Folded<State>,
): readonly Event[] {
  try {
    return decide(run, cached);
  } catch (error) {
    if (isRefusal(error)) return [];
    throw error;
  }
}

function isRefusal(error: unknown): boolean {
  return error instanceof CommandRejected || error instanceof PreconditionFailed;
}

function toNewEvent<State, Command, Event extends DomainEvent>(
  { aggregate, stream }: Target<State, Command, Event>,
  event: Event,
  { index, context }: { readonly index: number; readonly context: CommandContext },
): Encoded<Event> {
  const encoded = aggregate.codec.encode(event);
  return {
    ...encoded,
    id: eventId(context.commandId, stream, index, encoded),
    metadata: {
      command_id: context.commandId,
      causation_id: context.causationId,
      correlation_id: context.correlationId,
      actor: context.actor,
      time: context.time.toISOString(),
    },
  };
}
