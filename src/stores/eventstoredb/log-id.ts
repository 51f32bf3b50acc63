import type { EventMetadata, NewEvent, StoredEvent } from '../../event-sourcing/domain-event.js';
import { StoreDamaged, WrongExpectedRevision } from '../../event-sourcing/errors.js';
import type { EventStore } from '../../event-sourcing/event-store.js';

/** The stream with the log's identity, after the prefix. Reads of the whole log leave it out. */
export const logIdStream = 'log-identity';

/**
 * Finds the id of the log, and gives the log one when it has none. Two processes that do so at once end with the id
 * of the one that was first. A failure is not remembered.
 * @param newId makes a UUID
 */
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
    const [event] = await store.read(logIdStream, { limit: 1 });
    return event === undefined ? null : idOf(event);
  }
}

function idOf({ type, data }: StoredEvent): string {
  const logId = data['log_id'];
  if (type === 'LogIdentified' && typeof logId === 'string' && logId !== '') return logId;
  throw new StoreDamaged(
    `stream ${logIdStream} does not hold the log's id; another application writes under this STREAM_PREFIX, choose another`,
  );
}

function identified(logId: string, now: Date): NewEvent {
  const metadata: EventMetadata = {
    command_id: logId,
    causation_id: logId,
    correlation_id: logId,
    actor: 'system:event-store',
    time: now.toISOString(),
  };
  return { id: logId, type: 'LogIdentified', data: { log_id: logId }, metadata };
}
