import { z } from 'zod';
import type { LogEvent } from '../ports/domain-event.js';
import type { EventStore } from '../ports/event-store.js';

/** Storage format of a reference to an event. The id of the event is in the name of the record that holds it. */
export const eventReferenceSchema = z.object({
  stream: z.string(),
  revision: z.string().regex(/^\d+$/),
  position: z.string(),
});

export type EventReference = z.infer<typeof eventReferenceSchema>;

export function referenceTo({
  stream,
  revision,
  position,
}: Pick<LogEvent, 'stream' | 'revision' | 'position'>): EventReference {
  return { stream, revision: String(revision), position };
}

/**
 * Reads an event by its reference. Returns null where the log does not hold it, as after a restore.
 * @throws StoreUnavailable, StreamDamaged
 */
export async function readReferenced(
  eventStore: Pick<EventStore, 'read'>,
  id: string,
  { stream, revision, position }: EventReference,
): Promise<LogEvent | null> {
  const [stored] = await eventStore.read(stream, { from: BigInt(revision), limit: 1 });
  return stored?.id === id ? { ...stored, position } : null;
}
