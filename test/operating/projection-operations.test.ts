import test from 'ava';
import { makeProjectionOperations } from '../../src/operating/routes/projection-operations.js';
import {
  callOperator,
  changeRequest,
  type OperatorRequest,
  readRequest,
} from '../../src/operating/socket/client.js';
import { connectWithin } from '../../src/operating/socket/listen.js';
import { makeOperatorHandler } from '../../src/operating/socket/operator-app.js';
import { pino } from 'pino';
import type { Generations } from '../../src/event-sourcing/views/generations/generations.js';
import type { EventStore } from '../../src/event-sourcing/ports/event-store.js';
import type { ReadModelStore } from '../../src/event-sourcing/ports/read-model-store.js';
import { type LeaseRecord, makeSoleLease } from '../../src/event-sourcing/feeding/consumers/lease.js';
import { viewConsumer } from '../../src/event-sourcing/feeding/consumers/tasks.js';
import { countersProjection } from '../support/kernel/counters.js';
import { makeMemoryReadModelStore } from '../support/fakes/memory-read-model-store.js';
import { makeTestClock } from '../support/fakes/clock.js';
import { partial } from '../support/fakes/partial.js';

const ask = (routes: ReturnType<typeof makeProjectionOperations>, request: OperatorRequest) =>
  callOperator(
    connectWithin(
      makeOperatorHandler({
        ...{
          routes,
          clock: makeTestClock(),
          logger: pino({ level: 'silent' }),
          publicUrl: 'http://localhost',
        },
        runOnce: () => Promise.reject(new Error('unused')),
      }),
    ),
    request,
  );

/** The state store of a process that owns its stores alone has no record of a lease. */
const noRecords = { live: () => [], look: () => Promise.resolve() };

test('A prune is refused while a live process uses a view version that this release does not have', async (t) => {
  // Given a process of another release. The store of the test gives nothing, so a prune would fail
  const feeds = ['view/counters@99', 'reaction/mail'];
  const other: LeaseRecord = { owner: 'old-1', feeds, positions: {}, lags_ms: {} };
  const operations = makeProjectionOperations({
    generations: partial<Generations>({ projections: [countersProjection] }),
    leases: {
      watch: { live: () => [other], look: () => Promise.resolve() },
      feeder: makeSoleLease('new-1'),
    },
    eventStore: partial<EventStore>({}),
    readModelStore: partial<ReadModelStore>({}),
    clock: { now: () => new Date(0) },
  });
  // When an operator prunes, or asks what would go
  for (const request of [changeRequest('projection prune'), readRequest('projection prunable')]) {
    const refused = await ask(operations, request);
    // Then the refusal names the process and the view
    t.like(refused, { ok: false, code: 'view_in_use' });
    t.regex((refused as { message: string }).message, /old-1 .*the view counters@99/);
  }
});

test('A list of views reads the registry from the store, since no service may have read it for it', async (t) => {
  let reads = 0;
  const refresh = () => {
    reads += 1;
    return Promise.resolve(reads);
  };
  const operations = makeProjectionOperations({
    generations: partial<Generations>({ projections: [], refresh }),
    leases: { watch: noRecords, feeder: makeSoleLease('alone') },
    eventStore: partial<EventStore>({ head: () => Promise.resolve(null) }),
    readModelStore: makeMemoryReadModelStore(),
    clock: { now: () => new Date(0) },
  });
  t.true((await ask(operations, readRequest('projection list'))).ok);
  t.is(reads, 1);
});

test('A list of views names the process that owns its stores alone as their feeder', async (t) => {
  const feeder = makeSoleLease('alone');
  const operations = makeProjectionOperations({
    generations: partial<Generations>({
      projections: [countersProjection],
      refresh: () => Promise.resolve(1),
      record: () => ({ live: 1, building: null, retiring: null, dropping: null, last_rebuild: null }),
    }),
    leases: { watch: noRecords, feeder },
    eventStore: partial<EventStore>({ head: () => Promise.resolve(null) }),
    readModelStore: makeMemoryReadModelStore(),
    clock: { now: () => new Date(0) },
  });
  const list = () => ask(operations, readRequest('projection list'));
  t.like(await list(), { result: { items: [{ name: countersProjection.name, feeders: [] }] } });
  feeder.add(viewConsumer(countersProjection), () => ({ state: 'running', lagMs: 0, problem: null }));
  t.like(await list(), { result: { items: [{ name: countersProjection.name, feeders: ['alone'] }] } });
});
