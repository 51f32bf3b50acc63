import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import type { EventMetadata, NewEvent, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import { StoreDamaged, WrongExpectedRevision } from '../../../event-sourcing/ports/errors.js';
import { hasEvents } from '../../../event-sourcing/feeding/read-log.js';
import type { EventStore } from '../../../event-sourcing/ports/event-store.js';

/** The stream with the log's stamp, without the prefix. Reads of the whole log leave it out. */
export const logIdStream = 'log-identity';

/** The stamp that embedded files carry as `application_id` and `user_version`: src/stores/README.md#the-stamp. */
const application = 'STOW';
const format = 1;

const stampType = 'LogMarked';
const stampSchema = z.object({
  log_id: z.string().min(1),
  application: z.literal(application),
  format: z.int(),
});

/**
 * Reads the log's id, or stamps a log without events with a new UUID. Racing processes all return the first one appended.
 * It caches no failure. @throws StoreDamaged for a log that this program did not begin, or one of a newer format
 */
export function makeLogId(
  store: Pick<EventStore, 'read' | 'append' | 'readAll'>,
  now: () => Date,
): () => Promise<string> {
  let known: Promise<string> | null = null;
  return () =>
    (known ??= find().catch((error: unknown) => {
      known = null;
      throw error;
    }));

  async function find(): Promise<string> {
    return (await stored()) ?? (await create());
  }

  async function create(): Promise<string> {
    if (await hasEvents(store)) {
      // A process appends events only after the stamp. So the events of one that was faster show its stamp, too.
      return (await stored()) ?? refuse('it has events of this service, and no stamp before them');
    }
    const event = makeLogStamp(randomUUID(), now());
    try {
      await store.append(logIdStream, 'no-stream', [event]);
      return event.id;
    } catch (error) {
      const first = error instanceof WrongExpectedRevision ? await stored() : null;
      if (first === null) throw error;
      return first;
    }
  }

  async function stored(): Promise<string | null> {
    return logIdIn(await store.read(logIdStream, { limit: 1 }));
  }
}

/** Returns the id in the events of the stream; null when it is empty. @throws StoreDamaged for another event */
export function logIdIn([event]: readonly StoredEvent[]): string | null {
  if (event === undefined) return null;
  const stamp = event.type === stampType ? stampSchema.safeParse(event.data) : undefined;
  if (stamp?.success !== true) {
    return refuse(`stream ${logIdStream} does not hold its stamp`);
  }
  if (stamp.data.format > format) {
    throw new StoreDamaged(
      `the log has format ${stamp.data.format}, this program knows up to ${format}. Run the newer version`,
    );
  }
  return stamp.data.log_id;
}

function refuse(finding: string): never {
  throw new StoreDamaged(
    `the log under this STREAM_PREFIX is not one of this program: ${finding}. Another program wrote it, or one from ` +
      'before release 1.0.0. This program cannot read it. Set another STREAM_PREFIX, or the URL of another server',
  );
}

/** Makes the event that stamps a log. */
export function makeLogStamp(logId: string, now: Date): NewEvent {
  const metadata: EventMetadata = {
    command_id: logId,
    causation_id: logId,
    correlation_id: logId,
    actor: 'system:event-store',
    time: now.toISOString(),
  };
  return { id: logId, type: stampType, data: { log_id: logId, application, format }, metadata };
}
