import type { Aggregate } from '../../src/event-sourcing/decider.js';
import type { DomainEvent } from '../../src/event-sourcing/domain-event.js';

/** The aggregate with other decisions, folded as it is. */
export function withDecide<State, Command, Asked, Event extends DomainEvent>(
  aggregate: Aggregate<State, Command, Event>,
  decide: (command: Asked, state: State) => readonly NoInfer<Event>[],
): Aggregate<State, Asked, Event> {
  return aggregate.followsStoreTime === true
    ? { ...aggregate, decider: { ...aggregate.decider, decide } }
    : { ...aggregate, decider: { ...aggregate.decider, decide } };
}
