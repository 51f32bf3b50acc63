import type { ExecutionContext } from 'ava';
import type { EventStore } from '../../../src/event-sourcing/event-store.js';
import type { EventStoreDbOptions } from '../../../src/stores/eventstoredb/event-store.js';
import { openTestStore } from './open-test-store.js';
import { startEventStoreDbServer, type EventStoreDbServer, type StartOptions } from './server.js';

/** A time limit that a test can wait for, and that a busy machine keeps to when all is well. */
export const callMs = 500;

/** How late a call may end after its limit before a test calls it hanging: the machine may be busy. */
export const slackMs = 3_000;

/** A server and an adapter on it, both gone after the test. */
export async function givenServer(
  t: ExecutionContext,
  start: StartOptions = {},
  options: Partial<EventStoreDbOptions> = {},
): Promise<{ readonly server: EventStoreDbServer; readonly store: EventStore }> {
  const server = await startEventStoreDbServer(start);
  const store = openTestStore(server.url, options);
  t.teardown(async () => {
    await store.close();
    await server.close();
  });
  return { server, store };
}
