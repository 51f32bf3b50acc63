import type { ExecutionContext } from 'ava';
import type { Aggregate } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { DomainEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { CommandRejected, TargetNotFound } from '../../../src/event-sourcing/ports/errors.js';
import { recordEvents } from './given-events.js';

export interface Outcome<Event> {
  then(t: ExecutionContext, ...expected: readonly Event[]): void;
  /** The command ends its target: the repeated command is rejected with the code. */
  thenEnds(t: ExecutionContext, code: string, ...expected: readonly Event[]): void;
  thenNothing(t: ExecutionContext): void;
  thenRejected(t: ExecutionContext, code: string): void;
}

/**
 * `given(aggregate, …events).when(command).then(t, …events)` asserts a decision. Every event passes its codec on the
 * way in and out.
 */
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
      const stateAfter = (t: ExecutionContext, expected: readonly Event[]): State => {
        const decided = decide();
        t.deepEqual(decided, expected);
        recordEvents(aggregate, 'example', decided).forEach((stored, index) => {
          t.like(codec.decode(stored), decided[index] ?? {}, 'a stored event reads back as the decided one');
        });
        return foldAll([...events, ...decided]);
      };
      return {
        then: (t, ...expected) => {
          const after = stateAfter(t, expected);
          t.deepEqual(decider.decide(command, after), [], 'the repeated command decides no events');
        },
        thenEnds: (t, code, ...expected) => {
          const after = stateAfter(t, expected);
          const again = () => decider.decide(command, after);
          t.is(t.throws(again, { instanceOf: TargetNotFound }).code, code);
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
