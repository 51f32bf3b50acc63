import { viewConsumer } from '../event-sourcing/feeding/consumers/tasks.js';
import { pingReadModels } from '../event-sourcing/ports/records.js';
import type { Health } from '../observing/health.js';
import { type Feeding, consumersIn, reportStatus, type Status } from '../observing/components.js';
import type { StoreWatch } from '../observing/stores/store-watch.js';
import type { Progress } from '../event-sourcing/feeding/consumers/lease.js';
import { version } from '../version.js';
import type { Services } from './services.js';
import type { Leases } from './tasks/leases.js';
import { distinctLinks } from './opening/store-reports.js';

/** Makes the state of this process, from its first moment on: src/observing/README.md#health. */
export function makeServiceStatus(deps: {
  readonly stores: Pick<StoreWatch, 'states'>;
  readonly health: Pick<Health, 'ready' | 'stalled'>;
}) {
  const { stores, health } = deps;
  let leases: Pick<Leases, 'feeder' | 'all'> | null = null;
  return {
    report: (): Status =>
      reportStatus({
        stores: stores.states,
        readiness: health,
        version,
        feeding: () => (leases === null ? null : feedingOf(leases)),
        stalled: health.stalled,
      }),
    /** Adds what the process feeds or another one does, when the stores are open. */
    opened: (services: { readonly leases: Pick<Leases, 'feeder' | 'all'> }) => {
      ({ leases } = services);
    },
  };
}

function feedingOf({ feeder, all }: Pick<Leases, 'feeder' | 'all'>): Feeding {
  return {
    id: feeder.id,
    progress: new Map(all().flatMap((lease) => [...lease.progress()])),
    records: all().flatMap((lease) => lease.record() ?? []),
  };
}

/**
 * Reports what the open stores show where no service runs on the data directory: the stores, and the components that processes
 * elsewhere feed. @throws StoreUnavailable
 */
export async function statusWithoutService(
  services: Pick<Services, 'leases' | 'generations' | 'stores' | 'links'>,
): Promise<Status> {
  const { leases, generations, stores, links } = services;
  await Promise.all([
    stores.eventStore.head(),
    pingReadModels(stores.readModelStore),
    stores.stateStore.ping(),
  ]);
  await leases.watch.look();
  const none: Progress = { state: null, lagMs: 0, problem: null };
  const views = generations.projections.map(viewConsumer);
  const progress = new Map(views.map((view) => [view, none]));
  return {
    ready: false,
    process: null,
    version,
    reasons: ['no service runs on this data directory'],
    components: [
      ...distinctLinks(links).map(({ name }) => ({
        ...{ kind: 'store', name, state: 'answers', lag_seconds: 0, feeders: [], problem: null },
      })),
      ...consumersIn({ id: null, progress, records: leases.watch.live() }, []),
    ],
  };
}
