import type { ExecutionContext } from 'ava';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { EventStoreDbOptions } from '../../../../src/stores/eventstoredb/event-store.js';
import { openTestStore } from './open-test-store.js';
import { startEventStoreDbServer, type EventStoreDbServer, type StartOptions } from './server.js';

/** A time limit in milliseconds that a test can wait for, and that healthy calls meet on a busy machine. */
export const callMs = 500;

/** The milliseconds that a call may exceed its limit before a test fails, because the machine may be busy. */
export const slackMs = 3_000;

/** Starts a server and an adapter on it; both close after the test. */
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
