import { viewPart } from '../event-sourcing/feeding/sharing/assignment.js';
import { viewVersion } from '../event-sourcing/views/projection.js';
import type { Health } from '../observing/health.js';
import { reportStatus, sharedParts, type Status, type StatusSources } from '../observing/parts.js';
import type { StoreWatch } from '../observing/stores/store-watch.js';
import { version } from '../version.js';
import type { Services } from './services.js';
import { distinctLinks } from './opening/store-links.js';

/** The state of this process, from its first moment on: docs/design.md#health-and-metrics. */
export interface ServiceStatus {
  readonly report: () => Status;
  /** Adds the parts that the process shares with others, when the stores are open. */
  opened(services: Pick<Services, 'members'>): void;
}

export function makeServiceStatus(deps: {
  readonly stores: Pick<StoreWatch, 'states'>;
  readonly health: Pick<Health, 'ready' | 'unfed'>;
}): ServiceStatus {
  const { stores, health } = deps;
  let members: ReturnType<StatusSources['members']> = null;
  return {
    report: () =>
      reportStatus({
        stores: stores.states,
        readiness: health,
        version,
        members: () => members,
        unfed: health.unfed,
      }),
    opened: (services) => {
      ({ members } = services);
    },
  };
}

/**
 * Reports what the open stores show where no service runs on the data directory: the stores, and the parts that processes
 * elsewhere feed. @throws StoreUnavailable
 */
export async function statusWithoutService(
  services: Pick<Services, 'members' | 'generations' | 'stores' | 'links'>,
): Promise<Status> {
  const { members, generations, stores, links } = services;
  await Promise.all([stores.eventStore.head(), stores.readModelStore.ping(), stores.stateStore.ping()]);
  await members.refresh();
  members.declare(generations.projections.map((projection) => viewPart(viewVersion(projection))));
  return {
    ready: false,
    process: null,
    version,
    reasons: ['no service runs on this data directory'],
    parts: [
      ...distinctLinks(links).map(({ name }) => ({
        ...{ kind: 'store', name, state: 'answers', lag_seconds: 0, fed_by: [], problem: null },
      })),
      ...sharedParts(members, []),
    ],
  };
}
