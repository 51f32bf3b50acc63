import type { ExecutionContext } from 'ava';
import type { EventStore } from '../../../../src/event-sourcing/ports/event-store.js';
import type { EventStoreDbLimits } from '../../../../src/stores/eventstoredb/calls/limits.js';
import { makeTcpProxy } from '../tcp-proxy.js';
import { openTestStore } from './open-test-store.js';
import { makeProposed } from './proposed.js';
import { startEventStoreDbServer } from './server.js';

/** A log with large events behind a slow link. */
export interface SlowLink {
  readonly store: EventStore;
  /** The stream that holds all events of the log. */
  readonly stream: string;
}

/** Starts a server with `count` events of `bytes` in one stream, and an adapter that reaches it over a slow link. */
export async function givenSlowLink(
  t: ExecutionContext,
  log: { readonly count: number; readonly bytes: number },
  { bytesPerSecond, ...limits }: Partial<EventStoreDbLimits> & { readonly bytesPerSecond: number },
): Promise<SlowLink> {
  const server = await startEventStoreDbServer();
  const stream = 'thing-large';
  const data = JSON.stringify({ text: 'x'.repeat(log.bytes) });
  const metadata = JSON.stringify({
    ...{ command_id: 'c', causation_id: 'a', correlation_id: 'b' },
    ...{ actor: 'system:test', time: '2026-01-02T03:04:05.000Z' },
  });
  for (let index = 0; index < log.count; index += 1) {
    server.log.append(`test.${stream}`, 'any', [makeProposed({ type: 'ThingHappened@1', data, metadata })]);
  }
  const proxy = await makeTcpProxy({ host: '127.0.0.1', port: server.port });
  proxy.bytesPerSecond = bytesPerSecond;
  const store = openTestStore(`esdb://127.0.0.1:${proxy.port}?tls=false`, { limits });
  t.teardown(async () => {
    await store.close();
    await proxy.close();
    await server.close();
  });
  return { store, stream };
}

/** Follows the log from its begin until `count` events have come. Returns the largest number of events in a page. */
export async function catchUp(store: EventStore, count: number): Promise<number> {
  const reading = new AbortController();
  let [passed, largest] = [0, 0];
  for await (const { events } of store.subscribe({ after: null, signal: reading.signal })) {
    passed += events.length;
    largest = Math.max(largest, events.length);
    if (passed >= count) reading.abort();
  }
  return largest;
}
