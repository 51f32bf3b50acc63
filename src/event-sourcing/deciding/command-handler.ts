import type { CommandContext } from '../ports/command-context.js';
import type { DomainEvent, Position, Recorded, NewEvent } from '../ports/domain-event.js';
import type { FurtherAppend } from '../ports/event-store.js';
import type { StoredDocument } from '../ports/read-model-store.js';
import { PreconditionFailed } from '../ports/errors.js';
import type { EventCodec } from '../ports/event-codec.js';
import { hash } from 'node:crypto';
import { parse, v7 } from 'uuid';

/** An event as `evolve` sees it. `recordedAt` is the store's time, for rules on which several processes must agree. */
export type Evolving<Event extends DomainEvent> = Recorded<Event> & { readonly recordedAt: Date };

/** Pure decisions over one stream: no I/O, clock or randomness. The command carries times, ids and random values. */
interface Decider<State, Command, Event extends DomainEvent> {
  readonly initialState: State;
  /** Returns the events that carry the command out; `[]` for a repeated command. @throws CommandRejected */
  decide(command: Command, state: State): readonly Event[];
  // A property: TypeScript checks the parameters of a method too loosely (bivariance).
  readonly evolve: (state: State, event: Evolving<Event>) => State;
}

/** A decider with its stored names. A stream is `<category>-<id>`. */
export interface Aggregate<State, Command, Event extends DomainEvent> {
  readonly category: string;
  readonly codec: EventCodec<Event>;
  readonly decider: Decider<State, Command, Event>;
}

/** The revisions that `If-Match` names; none where all its tags are of something else. */
export type NamedRevisions = bigint | readonly bigint[];

/** @throws PreconditionFailed where the stream has another revision than each expected one; null: no event */
export function requireRevision(expected: NamedRevisions | undefined, revision: bigint | null): void {
  if (expected === undefined) return;
  const named = typeof expected === 'bigint' ? [expected] : expected;
  if (revision !== null && named.includes(revision)) return;
  throw new PreconditionFailed(
    revision !== null && named.some((one) => one < revision)
      ? 'the resource has changed since the revision named in If-Match'
      : 'If-Match names no revision of this resource; read it, and send its ETag',
  );
}

/** Returns what a command appends beside another; null where it appends nothing. It decides on the cached fold of its stream. */
export type PrepareFurther = <State, Command, Event extends DomainEvent>(
  target: { readonly aggregate: Aggregate<State, Command, Event>; readonly id: string },
  command: Command,
  context: CommandContext,
) => Promise<FurtherAppend | null>;

export interface HandleOptions<State = unknown> {
  /** The revision in `If-Match`. At another revision the command fails with PreconditionFailed, without a retry. */
  readonly expectedRevision?: NamedRevisions | undefined;
  /** The command takes access away: it resolves after its documents are written, or fails with StoreUnavailable. */
  readonly revokesAccess?: boolean;
  /** The command resolves as soon as its events are durable, and writes the documents in the background. */
  readonly isUrgent?: boolean;
  /** The state that the command decides on first; `latest` when left out. */
  readonly load?: Load;
  /**
   * Prepares a command that depends on the state after this one. Where the store can, one transaction has the events of both.
   * Where it cannot, or the other command is refused, they are not written: the caller sends that command afterwards in any case.
   */
  readonly further?: (after: State, prepare: PrepareFurther) => Promise<FurtherAppend | null>;
  /** Attempts of the append; those of `defaultAppendLimits` when left out. */
  readonly appendTries?: number;
}

/**
 * The state that a load returns or a command decides on first (docs/decisions/commands.md#0027-one-option-to-load).
 * - `latest`: the stream, read up to its head. The read covers only the events after the cached revision.
 * - `remembered`: the cached fold; the stream where none is cached.
 * - `new`: the cached fold; the initial state where none is cached.
 *
 * A rejection or an empty decision on cached state may be stale, so the command reads the stream and decides again. It
 * does so too after an append at a stale revision, which the store refuses.
 *
 * Use `remembered` and `new` only for a command whose id no other attempt uses: a repetition must see what it wrote before.
 */
export type Load = 'latest' | 'remembered' | 'new';

/** Returns how to load a stream whose id derives from the command: only another attempt of it can have made the stream. */
export function loadOfNew({ isUnique }: CommandContext): HandleOptions {
  return { load: isUnique === true ? 'new' : 'latest' };
}

/** A stream's folded state. `revision` is null while the stream does not exist. */
export interface Loaded<State> {
  readonly state: State;
  readonly revision: bigint | null;
}

export interface Handled<Event extends DomainEvent> {
  /** The events that this call, or an earlier one of the same command, appended; empty when it decided `[]`. */
  readonly events: readonly Event[];
  /** The stream's revision after the events; null while the stream does not exist. */
  readonly revision: bigint | null;
  /** The position of the last of the events; null without events, and where the store did not say it. */
  readonly position: Position | null;
  /** The stream's documents after the events, by view name. */
  readonly documents: ReadonlyMap<string, StoredDocument>;
}

export interface CommandHandler {
  /**
   * Folds a stream, by default read up to its head. A cached fold may be stale; it contains at least the events that
   * this process has read or appended. @throws StoreUnavailable, StoreDamaged, UndecodableEvent
   */
  load<State, Command, Event extends DomainEvent>(
    aggregate: Aggregate<State, Command, Event>,
    id: string,
    load?: Exclude<Load, 'new'>,
  ): Promise<Loaded<State>>;
  /**
   * Loads, decides, appends at the exact revision and writes the documents. When another writer was faster, it loads
   * and decides again: 20 attempts with jitter. TargetNotFound takes precedence over PreconditionFailed, and that over
   * every other rejection.
   * @throws CommandRejected, PreconditionFailed, Overloaded, StoreUnavailable, EventTooLarge, DocumentTooLarge,
   * StoreDamaged, UndecodableEvent
   */
  handle<State, Command, Event extends DomainEvent>(
    target: { readonly aggregate: Aggregate<State, Command, Event>; readonly id: string },
    command: Command,
    context: CommandContext,
    options?: HandleOptions<State>,
  ): Promise<Handled<Event>>;
}

/** An aggregate that names its streams as targets of commands. */
interface AddressedAggregate<State, Command, Event extends DomainEvent> extends Aggregate<
  State,
  Command,
  Event
> {
  /** Names the stream with this id. */
  readonly at: (id: string) => { readonly aggregate: Aggregate<State, Command, Event>; readonly id: string };
}

/** Joins the events of an aggregate and its decisions. */
export function defineAggregate<State, Command, Event extends DomainEvent>(
  { category, codec }: Pick<Aggregate<State, Command, Event>, 'category' | 'codec'>,
  decider: Aggregate<State, Command, Event>['decider'],
): AddressedAggregate<State, Command, Event> {
  const aggregate = { category, codec, decider };
  return { ...aggregate, at: (id) => ({ aggregate, id }) };
}

/** How each command is decided, by its type. A type that is left out does not compile. */
export type Decisions<Command extends { readonly type: string }, State, Event> = {
  readonly [Type in Command['type']]: (
    command: Extract<Command, { readonly type: Type }>,
    state: State,
  ) => readonly Event[];
};

/** Makes what decides on commands of one kind of state. */
export function decideBy<Command extends { readonly type: string }, State, Event>(
  decisions: Decisions<Command, State, Event>,
) {
  // Each decision gets the commands of its type.
  const byType = decisions as Readonly<Record<string, (command: never, state: State) => readonly Event[]>>;
  return (command: Command, state: State): readonly Event[] => {
    const decide = byType[command.type];
    if (decide === undefined) throw new Error(`no decision on ${command.type}`);
    return decide(command as never, state);
  };
}

/** Makes decisions on every state of those on the state that `narrow` returns. */
export function narrowed<Command extends { readonly type: string }, State, Narrow, Event>(
  decisions: Decisions<Command, Narrow, Event>,
  narrow: (state: State, command: Command) => Narrow,
): Decisions<Command, State, Event> {
  const decide = decideBy(decisions);
  const decideNarrowed = (command: Command, state: State) => decide(command, narrow(state, command));
  const entries = Object.keys(decisions).map((type) => [type, decideNarrowed]);
  return Object.fromEntries(entries) as Decisions<Command, State, Event>;
}

/** The namespace of our event ids (RFC 9562, section 5.5). It never changes: a repeated command must make equal ids. */
const eventNamespace = Buffer.from(parse('6f1c1f5e-9a83-4c0f-9f8e-0c6d6a3b7a51'));

/**
 * Returns the UUIDv5 of the `index`-th event that a command appends to a stream. A repeated command makes the same. With
 * other content, for example values that it sealed again, it makes another: the store recognises a repeated append by
 * its ids alone, and would acknowledge content that is not in the log.
 */
export function eventId(
  commandId: string,
  stream: string,
  index: number,
  { type, data }: Pick<NewEvent, 'type' | 'data'>,
): string {
  return derivedUuid(`${commandId}/${stream}/${index}/${type}/${JSON.stringify(data)}`);
}

/** Returns the UUIDv5 of the command that appends a reaction's outcome: the same in every process and attempt. */
export function reactionCommandId(causeId: string, reaction: string): string {
  return derivedUuid(`${causeId}/${reaction}`);
}

/**
 * Returns the context of one step of a command that appends to one stream more than once. The step's command id derives
 * from the command's, so that no two events share an id.
 */
export function stepContext(context: CommandContext, step: string): CommandContext {
  return { ...context, commandId: derivedUuid(`${context.commandId}/${step}`) };
}

/**
 * Returns the id of a resource that a command makes: a UUIDv7 (RFC 9562, section 5.7) of the command's time. Its random
 * bits derive from command id and label, so a repeated command makes the same. `label` separates several resources.
 */
export function derivedId(context: Pick<CommandContext, 'commandId' | 'time'>, label: string): string {
  const random = hash('sha256', `${context.commandId}/${label}`, 'buffer').subarray(0, 16);
  return v7({ msecs: context.time.getTime(), random, seq: random.readUInt32BE(6) });
}

/** Returns a UUIDv5 (RFC 9562, section 5.5). Every event needs one or two; the library's function is much slower. */
function derivedUuid(name: string): string {
  const bytes = Buffer.allocUnsafe(eventNamespace.length + Buffer.byteLength(name));
  bytes.write(name, eventNamespace.copy(bytes));
  const digits = hash('sha1', bytes);
  const variant = ((Number.parseInt(digits.charAt(16), 16) & 0b0011) | 0b1000).toString(16);
  const [low, mid, high] = [digits.slice(0, 8), digits.slice(8, 12), digits.slice(13, 16)];
  return `${low}-${mid}-5${high}-${variant}${digits.slice(17, 20)}-${digits.slice(20, 32)}`;
}
