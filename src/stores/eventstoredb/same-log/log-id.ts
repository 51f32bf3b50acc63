import type { EventMetadata, NewEvent, StoredEvent } from '../../../event-sourcing/ports/domain-event.js';
import { StoreDamaged, WrongExpectedRevision } from '../../../event-sourcing/ports/errors.js';
import type { EventStore } from '../../../event-sourcing/ports/event-store.js';

/** The stream with the log's id, without the prefix. Reads of the whole log leave it out. */
export const logIdStream = 'log-identity';

/** Reads the log's id or creates a UUID. Racing processes all return the first one appended. It caches no failure. */
export function makeLogId(
  store: Pick<EventStore, 'read' | 'append'>,
  deps: { readonly newId: () => string; readonly now: () => Date },
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
    const event = identified(deps.newId(), deps.now());
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
  return event === undefined ? null : idOf(event);
}

function idOf({ type, data }: StoredEvent): string {
  const logId = data['log_id'];
  if (type === 'LogIdentified' && typeof logId === 'string' && logId !== '') return logId;
  throw new StoreDamaged(
    `stream ${logIdStream} does not hold the log's id; another application writes under this STREAM_PREFIX, choose another`,
  );
}

/** Makes the event that gives a log its id. */
export function identified(logId: string, now: Date): NewEvent {
  const metadata: EventMetadata = {
    command_id: logId,
    causation_id: logId,
    correlation_id: logId,
    actor: 'system:event-store',
    time: now.toISOString(),
  };
  return { id: logId, type: 'LogIdentified', data: { log_id: logId }, metadata };
}
