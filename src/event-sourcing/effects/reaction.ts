import type { CommandContext } from '../ports/command-context.js';
import { type Aggregate, type Evolving, reactionCommandId } from '../deciding/command-handler.js';
import { type DomainEvent, type LogEvent, type Position, streamIdOf } from '../ports/domain-event.js';
import type { EventCodec } from '../ports/event-codec.js';

/**
 * Whether an event still needs its outcome. `not-yet`: ask again in 1 s. `notBefore`: ask again at that time, which a
 * timer keeps when it is more than a minute away.
 */
export type Asked = 'yes' | 'no' | 'not-yet' | { readonly notBefore: Date };

/** An event as reactions see it, with its position in the whole log. */
export type ReactionEvent<Event extends DomainEvent> = Evolving<Event> & { readonly position: Position };

/**
 * A process manager, as data and functions: src/event-sourcing/effects/README.md#effects. It follows the log and produces, for each event
 * of its types, an outcome that is in the log too. `Event` is the union of those types. `Result` is the value that the
 * effect passes to the outcome.
 */
export interface Reaction<Event extends DomainEvent, Result = undefined> {
  /** In kebab case. It names checkpoint, claims and actor (`system:<name>`): another name starts at the start of the log. */
  readonly name: string;
  /** The reaction follows streams `<category>-<id>`. */
  readonly category: string;
  /** The codec of the streams' aggregate. */
  readonly codec: EventCodec<DomainEvent>;
  /**
   * The stored types with an outcome, retired ones included: an upcaster makes the event of each. The reaction passes all
   * others without decoding them. A release that adds a type gives the reaction another name: a process of the former
   * release may have passed events of the type. The start refuses a type that the codec does not know.
   */
  readonly types: readonly string[];
  /** Returns when the event no longer needs its outcome. It cuts the effect off too. Null: never. */
  deadline?(event: ReactionEvent<Event>): Date | null;
  /** Reads the stream. With `perform`, it must return `no` after the outcome was appended. */
  asks(event: ReactionEvent<Event>): Promise<Asked>;
  /**
   * Runs the outside effect under a claim, so in one process at a time. The signal cuts it off after 45 s. The effect
   * happens once, or again after a crash, a pause or an unknown outcome. Its errors are logged, so they contain no
   * secret and no personal data. Left out when there is no effect: the commands are idempotent and need no claim.
   */
  perform?(event: ReactionEvent<Event>, signal: AbortSignal): Promise<Result>;
  /**
   * Whether `asks` may return a `notBefore` of more than a minute. The reaction then looks for its timers. Without it, an
   * event that waits for long holds the checkpoint.
   */
  readonly hasTimers?: true;
  /** Events that a process works on at once: 8 when left out. Effects that may hang need more. */
  readonly atOnceMax?: number;
  /**
   * Returns the account that pays for the effect, and has an eighth of `atOnceMax`: its bucket may be slow. Where 100 of its
   * events wait, timers keep further ones, so the reaction needs `hasTimers`. It is asked after `asks`.
   */
  account?(event: ReactionEvent<Event>): Promise<string>;
  /**
   * Appends the outcome by commands that decide `[]` when they are repeated. The context's id and time derive from the
   * event, so a retry is the same command. The outcome's `recordedAt` is the time when it happened.
   */
  conclude(event: ReactionEvent<Event>, context: CommandContext, result: Result): Promise<void>;
}

/**
 * Makes the reaction to events of an aggregate: whether its outcome is due, and the command that makes it. Both get the id of the stream.
 */
export function on<Event extends DomainEvent, const Type extends Event['type'], Result = undefined>(
  { category, codec }: Pick<Aggregate<unknown, unknown, Event>, 'category' | 'codec'>,
  types: readonly Type[],
  { isDue, run, ...reaction }: Outcome<Extract<Event, { readonly type: Type }>, Result>,
): Reaction<Extract<Event, { readonly type: Type }>, Result> {
  return {
    ...{ ...reaction, category, codec, types },
    asks: async (event) => {
      const due = await isDue(streamIdOf(event), event);
      return typeof due === 'boolean' ? (due ? 'yes' : 'no') : due;
    },
    conclude: async (event, context, result) => {
      await run(streamIdOf(event), context, event, result);
    },
  };
}

interface Outcome<Event extends DomainEvent, Result> extends Omit<
  Reaction<Event, Result>,
  'category' | 'codec' | 'types' | 'asks' | 'conclude'
> {
  readonly isDue: (id: string, event: ReactionEvent<Event>) => Promise<Asked | boolean>;
  readonly run: (
    id: string,
    context: CommandContext,
    event: ReactionEvent<Event>,
    result: Result,
  ) => Promise<unknown>;
}

/** A reaction of any events and results. */
export type AnyReaction = Reaction<DomainEvent, unknown>;

/** Returns whether a stored event is of the reaction's streams and types. */
export function concerns(
  reaction: Pick<AnyReaction, 'types' | 'category'>,
  { type, stream }: LogEvent,
): boolean {
  return reaction.types.includes(type) && stream.startsWith(`${reaction.category}-`);
}

/** Decodes an event of the reaction's streams and types; null for any other. @throws UndecodableEvent */
export function eventFor(
  reaction: Pick<AnyReaction, 'types' | 'category' | 'codec'>,
  stored: LogEvent,
): ReactionEvent<DomainEvent> | null {
  if (!concerns(reaction, stored)) return null;
  return { position: stored.position, ...reaction.codec.decode(stored) };
}

/** Returns the context of the outcome's commands. */
export function contextFor(
  reaction: Pick<AnyReaction, 'name'>,
  event: ReactionEvent<DomainEvent>,
): CommandContext {
  return {
    commandId: reactionCommandId(event.id, reaction.name),
    causationId: event.id,
    correlationId: event.metadata.correlation_id,
    actor: `system:${reaction.name}`,
    time: event.recordedAt,
  };
}
