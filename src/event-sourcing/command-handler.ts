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
}

export interface HandleOptions {
  /** From `If-Match`: the revision that the caller saw. Another one is PreconditionFailed, not retried. */
  readonly expectedRevision?: bigint;
  /** Takes access away: the reply waits until the documents are written, and fails (StoreUnavailable) when they cannot be. */
  readonly revokesAccess?: boolean;
  /** Resolves as soon as the events are durable: the documents are written beside that, and nobody waits for them. */
  readonly isUrgent?: boolean;
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

/** Runs commands against aggregates: load, decide, append at the exact revision, write the documents through. */
export interface CommandHandler {
  /** Reads a stream up to now and folds it. @throws StoreUnavailable, StoreDamaged, UndecodableEvent */
  load<State, Command, Event extends DomainEvent>(
    aggregate: Aggregate<State, Command, Event>,
    id: string,
  ): Promise<Loaded<State>>;
  /**
   * Loads, decides, appends; after a lost race loads and decides again (20 tries with jitter, then Overloaded).
   * @throws CommandRejected, PreconditionFailed, Overloaded, StoreUnavailable, EventTooLarge, StoreDamaged, UndecodableEvent
   */
  handle<State, Command, Event extends DomainEvent>(
    target: { readonly aggregate: Aggregate<State, Command, Event>; readonly id: string },
    command: Command,
    context: CommandContext,
    options?: HandleOptions,
  ): Promise<Handled<Event>>;
}
