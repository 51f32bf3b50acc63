import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { EventStoreDBClient, jsonEvent, NO_STREAM } from '@eventstore/db-client';
import { openTestStore } from '../support/servers/eventstoredb-server/server.js';
import { appendsPerSecond, example } from './appends.js';
import { makeEvent } from './events.js';
import { compare, type Comparison } from './measure.js';

const inFlight = 64;
const rounds = 5;

/**
 * Compares appends through the port of EventStoreDB with the batch path of its client
 * (docs/decisions/event-store.md#0033-one-batch-call), on the node of `EVENTSTOREDB_URL`, or else on the fake node in
 * a separate process.
 */
export async function benchEventStoreDbAppends(): Promise<readonly Comparison[]> {
  const child = fork(fileURLToPath(new URL('./eventstoredb-child.js', import.meta.url)));
  const [ofFake] = (await once(child, 'message')) as [string];
  const url = process.env['EVENTSTOREDB_URL'] || ofFake;
  const store = openTestStore(url, { streamPrefix: 'bench.' });
  const client = EventStoreDBClient.connectionString(url);
  try {
    return [
      await compare(
        {
          what: `appends to EventStoreDB, ${inFlight} in flight`,
          anchor: 'batch path of the client',
          unit: 'appends/s',
          goal: { atLeast: 0.75 },
        },
        rounds,
        {
          ours: () =>
            appendsPerSecond(inFlight, () =>
              store.append(`project-${randomUUID()}`, 'no-stream', [makeEvent(example)]),
            ),
          anchor: () =>
            appendsPerSecond(inFlight, () =>
              // Without credentials the client takes its batch path (its file `streams/appendToStream`).
              client.appendToStream(`bench.bare-${randomUUID()}`, jsonEvent({ ...makeEvent(example) }), {
                expectedRevision: NO_STREAM,
              }),
            ),
        },
      ),
    ];
  } finally {
    await store.close();
    await client.dispose();
    child.disconnect();
  }
}
