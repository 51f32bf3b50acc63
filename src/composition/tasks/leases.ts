import { makeLeaseWatch } from '../../event-sourcing/feeding/consumers/lease-watch.js';
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Config } from '../../config/config.js';
import type { Clock } from '../../kit/time/clock.js';
import type { StateStore } from '../../event-sourcing/ports/state-store.js';
import { taskConsumer } from '../../event-sourcing/feeding/consumers/tasks.js';
import {
  feederKey,
  type Lease,
  makeLease,
  makeSoleLease,
} from '../../event-sourcing/feeding/consumers/lease.js';
import type { NoteRetry } from '../opening/store-reports.js';

/** The leases of this process: src/event-sourcing/feeding/README.md#the-lease. */
export type Leases = ReturnType<typeof openLeases>;

/** Makes the leases of the processes that have the configured MongoDB in common. */
export function openLeases(deps: {
  readonly config: Pick<Config, 'mongoDbUrl'>;
  readonly stateStore: StateStore;
  readonly clock: Clock;
  readonly noteRetry: NoteRetry;
}) {
  // Operators read the id in `stowage projection list`.
  const id = `${hostname().slice(0, 100)}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const onRetry = (error: unknown): void => deps.noteRetry('could not renew or read a lease', error);
  const make = (keyOf: (consumers: readonly string[]) => string): Lease =>
    // A process owns embedded stores alone.
    deps.config.mongoDbUrl === undefined ? makeSoleLease(id) : makeLease({ ...deps, id, keyOf, onRetry });
  const feeder = make(feederKey);
  const leases = [feeder];
  return {
    /** Of its views, reactions and endpoints, and of the audit log. */
    feeder,
    /** Makes the lease of work at intervals. */
    task: (name: string) => {
      const lease = make(() => taskConsumer(name));
      leases.push(lease);
      return lease;
    },
    /** Returns the lease of the feeder and those that `task` has made. */
    all: (): readonly Lease[] => leases,
    /** The records of all releases, for operators. */
    watch: makeLeaseWatch(deps),
    /** Gives all of them up. */
    stop: async () => {
      await Promise.all(leases.map((lease) => lease.stop()));
    },
  };
}
