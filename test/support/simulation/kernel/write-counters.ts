import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import { eventId } from '../../../../src/event-sourcing/deciding/ids.js';
import { counterCategory, counterCodec, type CounterEvent } from '../../examples/counter-aggregate.js';
import { contextOf } from './given-process.js';

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
    const metadata = {
      command_id: commandId,
      causation_id: commandId,
      correlation_id: commandId,
      actor,
      time: time.toISOString(),
    };
    const expected = before.at(-1)?.revision ?? 'no-stream';
    const encoded = counterCodec.encode(event);
    await log.append(stream, expected, [
      { id: eventId(commandId, stream, 0, encoded), ...encoded, metadata },
    ]);
  }
}
