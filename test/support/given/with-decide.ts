import type { Aggregate } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { DomainEvent } from '../../../src/event-sourcing/ports/domain-event.js';

/** Returns the aggregate with other decisions and the same fold. */
export function withDecide<State, Command, Asked, Event extends DomainEvent>(
  aggregate: Aggregate<State, Command, Event>,
  decide: (command: Asked, state: State) => readonly NoInfer<Event>[],
): Aggregate<State, Asked, Event> {
  return { ...aggregate, decider: { ...aggregate.decider, decide } };
}
