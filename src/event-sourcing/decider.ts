import type { DomainEvent, Recorded } from './domain-event.js';
import type { EventCodec } from './event-codec.js';

/** An event as `evolve` sees it: `recordedAt` is the store's time, for rules that several processes must agree on. */
export type Evolving<Event extends DomainEvent> = Recorded<Event> & { readonly recordedAt: Date };

/** Pure decisions over one stream. No I/O, no clock, no randomness: those arrive in the command. */
export interface Decider<
  State,
  Command,
  Event extends DomainEvent,
  Seen extends Recorded<Event> = Recorded<Event>,
> {
  readonly initialState: State;
  /** The events that carry the command out; `[]` when it has been carried out already. @throws CommandRejected */
  decide(command: Command, state: State): readonly Event[];
  // A property, not a method: what it asks of events is checked against what it is given.
  readonly evolve: (state: State, event: Seen) => State;
}

/** A decider with the names it is stored under. A stream is `<category>-<id>`. */
export type Aggregate<State, Command, Event extends DomainEvent> = {
  readonly category: string;
  readonly codec: EventCodec<Event>;
} & (
  | { readonly followsStoreTime?: false; readonly decider: Decider<State, Command, Event> }
  /** Its state depends on when the store recorded an event, so an event is folded only once it has been read back. */
  | {
      readonly followsStoreTime: true;
      readonly decider: Decider<State, Command, Event, Evolving<Event>>;
    }
);

/** The name of a stream, before the store's prefix. */
export function streamName(category: string, id: string): string {
  return `${category}-${id}`;
}

/** Takes a stream's name apart; null for names that are not ours. */
export function parseStreamName(stream: string): { readonly category: string; readonly id: string } | null {
  const dash = stream.indexOf('-');
  if (dash <= 0 || dash === stream.length - 1) return null;
  return { category: stream.slice(0, dash), id: stream.slice(dash + 1) };
}
