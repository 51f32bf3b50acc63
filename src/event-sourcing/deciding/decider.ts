import type { DomainEvent, Recorded } from '../ports/domain-event.js';
import type { EventCodec } from '../ports/event-codec.js';

/** An event as `evolve` sees it. `recordedAt` is the store's time, for rules on which several processes must agree. */
export type Evolving<Event extends DomainEvent> = Recorded<Event> & { readonly recordedAt: Date };

/** Pure decisions over one stream: no I/O, clock or randomness. The command carries times, ids and random values. */
export interface Decider<State, Command, Event extends DomainEvent> {
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
