import type { Aggregate } from './decider.js';
import type { DomainEvent } from './domain-event.js';
import type { StoredDocument } from './read-model-store.js';

/** Who asks for a command, why and when. A repeated command has the same `commandId` and `time`. */
export interface CommandContext {
  /** UUID; the ids of the events are derived from it. */
  readonly commandId: string;
  readonly causationId: string;
  readonly correlationId: string;
  /** See `EventMetadata.actor`. */
  readonly actor: string;
  readonly time: Date;
  /** The id was made for this one attempt: nobody repeats the command under it, here or elsewhere. */
  readonly isUnique?: boolean;
}

export interface HandleOptions {
  /** From `If-Match`: the revision that the caller saw. Another one is PreconditionFailed, not retried. */
  readonly expectedRevision?: bigint;
  /** Takes access away: the reply waits until the documents are written, and fails (StoreUnavailable) when they cannot be. */
  readonly revokesAccess?: boolean;
  /** Resolves as soon as the events are durable: the documents are written beside that, and nobody waits for them. */
  readonly isUrgent?: boolean;
  /** Another command on the stream follows at once and writes the documents, or the projector does: this one leaves them. */
  readonly leavesDocuments?: boolean;
  /**
   * What is remembered of the stream is decided on before that is read; `new`: where nothing is, that it does not exist. A wrong
   * guess costs a try at the append. Only for commands that nobody repeats under their id with other content (sealed anew, say): a
   * store takes a repeated append for the first one by its ids, and only a read tells what stands there.
   */
  readonly guess?: 'remembered' | 'new';
  /** Tries at the append; several when left out (see `appendDurably`). */
  readonly appendTries?: number;
}

/** A stream's folded state; `revision` is null while the stream does not exist. */
export interface Loaded<State> {
  readonly state: State;
  readonly revision: bigint | null;
}

export interface Handled<Event extends DomainEvent> {
  /** The events that this call (or an earlier one of the same command) appended; empty when there was nothing to do. */
  readonly events: readonly Event[];
  /** The stream's revision afterwards, null when it still does not exist. */
  readonly revision: bigint | null;
  /** The documents of the stream after the events, by name of the view: what a read right now would find. */
  readonly documents: ReadonlyMap<string, StoredDocument>;
}

export interface LoadOptions<State> {
  /** Whether the stream will do as it is remembered, for what is asked of it does not change any more; else it is read. */
  readonly suffices?: (remembered: Loaded<State>) => boolean;
}

/** Runs commands against aggregates: load, decide, append at the exact revision, write the documents through. */
export interface CommandHandler {
  /** Reads a stream up to now and folds it. @throws StoreUnavailable, StoreDamaged, UndecodableEvent */
  load<State, Command, Event extends DomainEvent>(
    aggregate: Aggregate<State, Command, Event>,
    id: string,
    options?: LoadOptions<State>,
  ): Promise<Loaded<State>>;
  /**
   * Loads, decides, appends; after a lost race loads and decides again (20 tries with jitter, then Overloaded). A guess
   * stands if it leads to events and these to their place: only then is it certain that nothing was missing. That there is
   * nothing to do, or a refusal, is decided on what was read.
   * @throws CommandRejected, PreconditionFailed, Overloaded, StoreUnavailable, EventTooLarge, StoreDamaged, UndecodableEvent
   */
  handle<State, Command, Event extends DomainEvent>(
    target: { readonly aggregate: Aggregate<State, Command, Event>; readonly id: string },
    command: Command,
    context: CommandContext,
    options?: HandleOptions,
  ): Promise<Handled<Event>>;
}

/**
 * How to append to a stream that is named by the command which begins it: where nobody repeats the command there is no such
 * stream yet, and none is looked for (docs/decisions/0024).
 */
export function beginning({ isUnique = false }: CommandContext): Pick<HandleOptions, 'guess'> {
  return isUnique ? { guess: 'new' } : {};
}
