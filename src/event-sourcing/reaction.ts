import type { CommandContext } from './command-handler.js';
import type { Evolving } from './decider.js';
import type { DomainEvent, LogEvent, Position } from './domain-event.js';
import type { EventCodec } from './event-codec.js';
import { reactionCommandId } from './ids.js';
import type { AnyProjection } from './projection.js';
import type { ProjectionRunner } from './projection-runner.js';
import { isReached } from './projector.js';

/**
 * Whether an event's outcome is still to be brought about. `not-yet`: something is missing, look again in a second;
 * `notBefore`: it is a matter of time.
 */
export type Asked = 'yes' | 'no' | 'not-yet' | { readonly notBefore: Date };

/** An event as reactions see it, with its place in the whole log. */
export type ReactionEvent<Event extends DomainEvent> = Evolving<Event> & { readonly position: Position };

/**
 * A process manager, as data and functions (DESIGN section 1, "Reactions"): it follows the log and brings about, for
 * each event of its types, an outcome that stands in the log too. `Event` is the union of just those types, `Result` what
 * the outside effect tells the outcome.
 */
export interface Reaction<Event extends DomainEvent, Result = undefined> {
  /** In kebab case. Names the checkpoint, the claims and the actor (`system:<name>`): another name starts from the beginning. */
  readonly name: string;
  /** Streams `<category>-<id>` are followed. */
  readonly category: string;
  /** That of the streams' aggregate. */
  readonly codec: EventCodec<DomainEvent>;
  /** The stored types that are reacted to; all others are passed over undecoded. */
  readonly types: readonly Event['type'][];
  /** When the event's outcome is asked for no more, whatever the stream says; it cuts the effect off too. Null: never. */
  deadline?(event: ReactionEvent<Event>): Date | null;
  /** Reads the stream. It must say `no` once the outcome has been appended. */
  asks(event: ReactionEvent<Event>): Promise<Asked>;
  /**
   * The effect outside, run under a claim, so by one process at a time, and cut off by the signal after 45 s. It happens
   * once, or again after a crash, a pause or an unknown outcome. Left out where the outcome's commands are all there is
   * to do: they are idempotent, so no claim is taken. What it throws is logged: it must name no secret and no person.
   */
  perform?(event: ReactionEvent<Event>, signal: AbortSignal): Promise<Result>;
  /** How many effects a process runs at once: 8 when left out, more where some may hang while others wait their turn. */
  readonly atOnceMax?: number;
  /**
   * Appends the outcome by commands that decide `[]` when they are repeated. The context's id and time follow from the
   * event, so a repetition is the same command; the store's recorded time tells when the outcome came.
   */
  conclude(event: ReactionEvent<Event>, context: CommandContext, result: Result): Promise<void>;
}

/** Any reaction, where the kinds of its events and results do not matter. */
export type AnyReaction = Reaction<DomainEvent, unknown>;

/** The event if the reaction is to look at it, decoded. @throws UndecodableEvent */
export function eventFor(reaction: AnyReaction, stored: LogEvent): ReactionEvent<DomainEvent> | null {
  if (!reaction.types.includes(stored.type)) return null;
  if (!stored.stream.startsWith(`${reaction.category}-`)) return null;
  return { position: stored.position, ...reaction.codec.decode(stored) };
}

/** Who issues the outcome's commands, and why. */
export function contextFor(reaction: AnyReaction, event: ReactionEvent<DomainEvent>): CommandContext {
  return {
    commandId: reactionCommandId(event.id, reaction.name),
    causationId: event.id,
    correlationId: event.metadata.correlation_id,
    actor: `system:${reaction.name}`,
    time: event.recordedAt,
  };
}

/**
 * Whether the view that this process's readers use shows the log up to the position, for reactions that need one:
 * `asks` answers `not-yet` while it does not.
 */
export function showsUpTo(
  runner: Pick<ProjectionRunner, 'live'>,
  view: Pick<AnyProjection, 'name'>,
  position: Position,
): boolean {
  const status = runner.live().statuses.find(({ projection }) => projection.name === view.name);
  // Not the stored checkpoint: at the head of a silent log it may rest behind events that the view has passed.
  return status !== undefined && isReached(status.position, position);
}
