import { z } from 'zod';
import { type Aggregate, eventId } from '../../../src/event-sourcing/deciding/command-handler.js';
import { CommandRejected } from '../../../src/event-sourcing/ports/errors.js';
import { type EventOf, makeEventCodec } from '../../../src/event-sourcing/ports/event-codec.js';
import type { Recorded } from '../../../src/event-sourcing/ports/domain-event.js';
import type { Projection } from '../../../src/event-sourcing/views/projection.js';
import type { EventStore } from '../../../src/event-sourcing/ports/event-store.js';
import type { CommandContext } from '../../../src/event-sourcing/ports/command-context.js';
import { metadataOf } from '../examples/metadata.js';

/** The events of a toy aggregate for the kernel's tests: a counter that is opened, added to and closed. */
const schemas = {
  CounterOpened: z.strictObject({ label: z.string() }),
  CounterAdded: z.strictObject({ amount: z.int(), operation: z.string() }),
  CounterClosed: z.strictObject({}),
};

export type CounterEvent = EventOf<typeof schemas>;
export const counterCodec = makeEventCodec(schemas);
const counterCategory = 'counter';

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

type CounterDocument = {
  readonly label: string;
  readonly total: number;
  readonly additions: number;
  readonly updated_at: string;
};

/** A projection that uses every event. A closed counter has no body. */
export const countersProjection: Projection<CounterDocument, CounterEvent> = {
  name: 'counters',
  version: 1,
  category: counterCategory,
  codec: counterCodec,
  indexes: ['label'],
  evolve: (document: CounterDocument | null, event: Recorded<CounterEvent>): CounterDocument | null => {
    switch (event.type) {
      case 'CounterOpened':
        return { label: event.data.label, total: 0, additions: 0, updated_at: event.time };
      case 'CounterAdded':
        return document === null
          ? null
          : {
              ...document,
              total: document.total + event.data.amount,
              additions: document.additions + 1,
              updated_at: event.time,
            };
      case 'CounterClosed':
        return null;
    }
  },
};

type LabelDocument = { readonly label: string };

/** A projection that uses only the opening. Other events only raise the revision. */
export const counterLabelsProjection: Projection<LabelDocument, CounterEvent> = {
  name: 'counter_labels',
  version: 1,
  category: counterCategory,
  codec: counterCodec,
  indexes: [],
  evolve: (document, event) => (event.type === 'CounterOpened' ? { label: event.data.label } : document),
};

/**
 * Appends events of counters `<prefix>1`, `<prefix>2` and so on to the log, one call each, in turns: each is opened
 * (or, with `more`, not again), added to, and every fourth one closed.
 */
export async function writeCounters(
  log: EventStore,
  options: {
    readonly counters: number;
    readonly additions: number;
    readonly prefix?: string;
    readonly category?: string;
    readonly more?: boolean;
  },
): Promise<void> {
  const { counters, additions, prefix = 'c', category = counterCategory, more = false } = options;
  const ids = Array.from({ length: counters }, (_, index) => `${prefix}${index + 1}`);
  const rounds: readonly CounterEvent[] = [
    ...(more ? [] : [{ type: 'CounterOpened', data: { label: prefix } } as const]),
    ...Array.from({ length: additions }, (_, index) => ({
      type: 'CounterAdded' as const,
      data: { amount: index + 1, operation: `o${index}` },
    })),
  ];
  for (const event of rounds) for (const id of ids) await append(id, event);
  if (more) return;
  for (const id of ids.filter((_, index) => index % 4 === 3)) {
    await append(id, { type: 'CounterClosed', data: {} });
  }

  async function append(id: string, event: CounterEvent): Promise<void> {
    const stream = `${category}-${id}`;
    const before = await log.read(stream, { limit: 1_000_000 });
    const { commandId, actor, time } = contextOf(before.length);
    const metadata = metadataOf(commandId, actor, time.toISOString());
    const expected = before.at(-1)?.revision ?? 'no-stream';
    const encoded = counterCodec.encode(event);
    await log.append(stream, expected, [
      { id: eventId(commandId, stream, 0, encoded), ...encoded, metadata },
    ]);
  }
}

/** Returns the context of a command. The same number is the same command. */
export function contextOf(n: number, time = new Date('2026-01-02T03:04:05.000Z')): CommandContext {
  const commandId = `018f0000-0000-7000-8000-${String(n).padStart(12, '0')}`;
  return { commandId, causationId: commandId, correlationId: commandId, actor: 'anonymous', time };
}
