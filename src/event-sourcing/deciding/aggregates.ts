import type { DomainEvent } from '../ports/domain-event.js';
import type { Aggregate } from './command-handler.js';

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
