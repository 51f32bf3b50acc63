import { randomUUID } from 'node:crypto';
import type { NewEvent } from '../../src/event-sourcing/ports/domain-event.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import { projectCodec, type ProjectEvent } from '../../src/areas/projects/domain/project/events.js';
import { metadataOf } from '../support/examples/metadata.js';

/** Makes an event of a few hundred bytes, which is the usual size. */
export function makeEvent(event: ProjectEvent): NewEvent {
  const commandId = randomUUID();
  return {
    id: randomUUID(),
    ...projectCodec.encode(event),
    metadata: metadataOf(commandId, `user:${commandId}`),
  };
}

const eventsPerStream = 5;

/** Fills a log with projects, with five events each and 64 running appends. */
export async function fillLog(eventStore: EventStore, events: number): Promise<void> {
  let left = Math.ceil(events / eventsPerStream);
  const fill = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      const ownerId = randomUUID();
      const granted = { entitlement: 'allow_s3', source: 'operator' } as const;
      await eventStore.append(`project-${randomUUID()}`, 'no-stream', [
        makeEvent({ type: 'ProjectCreated', data: { name: 'A film of some length', owner_id: ownerId } }),
        makeEvent({ type: 'EntitlementGranted', data: granted }),
        makeEvent({ type: 'EntitlementRevoked', data: granted }),
        makeEvent({ type: 'EntitlementGranted', data: granted }),
        makeEvent({ type: 'DefaultStorageChanged', data: { storage_id: randomUUID() } }),
      ]);
    }
  };
  await Promise.all(Array.from({ length: 64 }, fill));
}
