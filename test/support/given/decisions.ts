import test from 'ava';
import type { Aggregate } from '../../../src/event-sourcing/deciding/command-handler.js';
import type { DomainEvent } from '../../../src/event-sourcing/ports/domain-event.js';
import { given } from './given.js';

/**
 * What is given, the command, and the outcome: the decided events, none where the command changes nothing, or the code
 * of the rejection.
 */
export type Decision<Command, Event> = readonly [
  given: readonly Event[],
  when: Command,
  then: readonly Event[] | string,
];

/** Declares a test for each title of a table. Each of its cases is asserted as `given` does. */
export function testDecisions<State, Command, Event extends DomainEvent>(
  aggregate: Aggregate<State, Command, Event>,
  table: NoInfer<Readonly<Record<string, readonly Decision<Command, Event>[]>>>,
): void {
  for (const [title, cases] of Object.entries(table)) {
    test(title, (t) => {
      for (const [events, command, expected] of cases) {
        const outcome = given(aggregate, ...events).when(command);
        if (typeof expected === 'string') outcome.thenRejected(t, expected);
        else outcome.then(t, ...expected);
      }
    });
  }
}
