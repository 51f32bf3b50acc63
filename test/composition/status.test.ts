import test from 'ava';
import { statusWithoutService } from '../../src/composition/status.js';
import { makeStoreLinks } from '../../src/composition/opening/store-reports.js';
import { openLeases } from '../../src/composition/tasks/leases.js';
import { feederKey } from '../../src/event-sourcing/feeding/consumers/lease.js';
import { viewConsumer } from '../../src/event-sourcing/feeding/consumers/tasks.js';
import { makeMemoryReadModelStore } from '../support/fakes/memory-read-model-store.js';
import { makeMemoryStateStore } from '../support/fakes/memory-state-store.js';
import { partial } from '../support/fakes/partial.js';
import { countersProjection } from '../support/kernel/counters.js';
import { makeVirtualClock } from '../support/kernel/virtual-clock.js';

type Services = Parameters<typeof statusWithoutService>[0];

test('A status without a service names no process as a feeder that a crash ended', async (t) => {
  const clock = makeVirtualClock();
  const stateStore = makeMemoryStateStore({ clock });
  const view = viewConsumer(countersProjection);
  // Given the record of an owner that was killed
  const left = { owner: 'dead', feeds: [view], positions: {}, lags_ms: {} };
  await stateStore.compareAndSet(feederKey([view]), null, left);
  const config = { eventStoreDbUrl: undefined, mongoDbUrl: 'mongodb://localhost' };
  const services = partial<Services>({
    leases: openLeases({ config, stateStore, clock, noteRetry: () => undefined }),
    generations: partial<Services['generations']>({ projections: [countersProjection] }),
    stores: partial<Services['stores']>({
      eventStore: partial<Services['stores']['eventStore']>({ head: () => Promise.resolve(null) }),
      readModelStore: makeMemoryReadModelStore(),
      stateStore,
    }),
    links: makeStoreLinks(config, clock),
  });
  const { components } = await clock.run(statusWithoutService(services));
  const [found] = components.filter(({ kind }) => kind === 'view');
  t.like(found, { name: 'counters@1', state: 'stalled', feeders: [] });
});
