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

interface Given<State, Command, Event extends DomainEvent> {
  readonly state: State;
  /** Adds events. */
  and(...events: readonly Event[]): Given<State, Command, Event>;
  when(command: Command): Outcome<Event>;
}

/**
 * `given(aggregate, …events).when(command).then(t, …events)` asserts a decision. Every event passes its codec on the
 * way in and out.
 */
export function given<State, Command, Event extends DomainEvent>(
  aggregate: Aggregate<State, Command, Event>,
  ...events: readonly Event[]
): Given<State, Command, Event> {
  const { codec, decider } = aggregate;
  return at(decider.initialState, 0).and(...events);

  function at(state: State, revision: number): Given<State, Command, Event> {
    const fold = (more: readonly Event[]): State =>
      recordEvents(aggregate, 'example', more, revision).reduce(
        (before, event) => decider.evolve(before, codec.decode(event)),
        state,
      );
    return {
      state,
      and: (...more) => at(fold(more), revision + more.length),
      when: (command) => {
        const decide = (): readonly Event[] => decider.decide(command, state);
        const stateAfter = (t: ExecutionContext, expected: readonly Event[]): State => {
          const decided = decide();
          t.deepEqual(decided, expected);
          recordEvents(aggregate, 'example', decided).forEach((stored, index) => {
            t.like(
              codec.decode(stored),
              decided[index] ?? {},
              'a stored event reads back as the decided one',
            );
          });
          return fold(decided);
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
  }
}
