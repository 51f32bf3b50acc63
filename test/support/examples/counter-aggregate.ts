import { z } from 'zod';
import type { Aggregate } from '../../../src/event-sourcing/deciding/command-handler.js';
import { CommandRejected } from '../../../src/event-sourcing/ports/errors.js';
import { type EventOf, makeEventCodec } from '../../../src/event-sourcing/ports/event-codec.js';

/** The events of a toy aggregate for the kernel's tests: a counter that is opened, added to and closed. */
const schemas = {
  CounterOpened: z.strictObject({ label: z.string() }),
  CounterAdded: z.strictObject({ amount: z.int(), operation: z.string() }),
  CounterClosed: z.strictObject({}),
};

export type CounterEvent = EventOf<typeof schemas>;
export const counterCodec = makeEventCodec(schemas);
export const counterCategory = 'counter';

export interface CounterState {
  readonly status: 'absent' | 'open' | 'closed';
  readonly total: number;
  /** The operations so far, so that a repeated one decides no events. */
  readonly operations: ReadonlySet<string>;
}

export type CounterCommand =
  | { readonly type: 'Open'; readonly label: string }
  /** Decides one event for each amount. */
  | { readonly type: 'Add'; readonly operation: string; readonly amounts: readonly number[] }
  | { readonly type: 'Close' };

const initialState: CounterState = {
  status: 'absent',
  total: 0,
  operations: new Set(),
};

function evolve(state: CounterState, event: CounterEvent): CounterState {
  switch (event.type) {
    case 'CounterOpened':
      return { ...state, status: 'open' };
    case 'CounterAdded':
      return {
        ...state,
        total: state.total + event.data.amount,
        operations: new Set([...state.operations, event.data.operation]),
      };
    case 'CounterClosed':
      return { ...state, status: 'closed' };
  }
}

function decide(command: CounterCommand, state: CounterState): readonly CounterEvent[] {
  switch (command.type) {
    case 'Open':
      return state.status === 'absent' ? [{ type: 'CounterOpened', data: { label: command.label } }] : [];
    case 'Add':
      if (state.operations.has(command.operation)) return [];
      if (state.status !== 'open') throw new CommandRejected('counter_not_open', 'the counter is not open');
      return command.amounts.map((amount) => ({
        type: 'CounterAdded',
        data: { amount, operation: command.operation },
      }));
    case 'Close':
      return state.status === 'open' ? [{ type: 'CounterClosed', data: {} }] : [];
  }
}

export const counterAggregate: Aggregate<CounterState, CounterCommand, CounterEvent> = {
  category: counterCategory,
  codec: counterCodec,
  decider: { initialState, decide, evolve },
};
