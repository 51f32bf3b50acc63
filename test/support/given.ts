import type { ExecutionContext } from 'ava';
import type { Aggregate } from '../../src/event-sourcing/decider.js';
import type { DomainEvent } from '../../src/event-sourcing/domain-event.js';
import { CommandRejected } from '../../src/event-sourcing/errors.js';
import { recordEvents } from './given-events.js';

export interface Outcome<Event> {
  then(t: ExecutionContext, ...expected: readonly Event[]): void;
  thenNothing(t: ExecutionContext): void;
  thenRejected(t: ExecutionContext, code: string): void;
}

/** `given(aggregate, …events).when(command).then(t, …events)`; every event passes its codec on the way in and out. */
export function given<State, Command, Event extends DomainEvent>(
  aggregate: Aggregate<State, Command, Event>,
  ...events: readonly Event[]
): { readonly state: State; when(command: Command): Outcome<Event> } {
  const { codec, decider } = aggregate;
  const state = foldAll(events);
  return {
    state,
    when: (command) => {
      const decide = (): readonly Event[] => decider.decide(command, state);
      return {
        then: (t, ...expected) => {
          const decided = decide();
          t.deepEqual(decided, expected);
          recordEvents(aggregate, 'example', decided).forEach((stored, index) => {
            t.like(
              codec.decode(stored),
              decided[index] ?? {},
              'what is stored reads back as what was decided',
            );
          });
          const after = foldAll([...events, ...decided]);
          t.deepEqual(decider.decide(command, after), [], 'the same command again decides nothing');
        },
        thenNothing: (t) => t.deepEqual(decide(), []),
        thenRejected: (t, code) => t.is(t.throws(decide, { instanceOf: CommandRejected }).code, code),
      };
    },
  };

  function foldAll(all: readonly Event[]): State {
    const stored = recordEvents(aggregate, 'example', all);
    return stored.reduce((state, event) => decider.evolve(state, codec.decode(event)), decider.initialState);
  }
}
