import { Counter, Gauge, type Registry } from 'prom-client';
import { countAfter } from '../event-sourcing/feeding/read-log.js';
import type { EventStore } from '../event-sourcing/ports/event-store.js';
import type { Position } from '../event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../event-sourcing/ports/errors.js';

/** Registers the release of the process, as a gauge of 1 with labels. */
export function registerBuildInfo(registry: Registry, version: string): void {
  new Gauge({
    name: 'stowage_build_info',
    help: '1, with the version of the service and of Node as labels.',
    labelNames: ['version', 'node'],
    registers: [registry],
  }).set({ version, node: process.versions.node }, 1);
}

/** @param server of the link of the event store */
export function registerServerInfo(
  registry: Registry,
  server: () => { readonly product: string; readonly version: string } | null,
): void {
  new Gauge({
    name: 'stowage_event_store_info',
    help: '1, with the product and the version that the event store names as labels. Absent with embedded stores.',
    labelNames: ['product', 'version'],
    registers: [registry],
    collect() {
      this.reset();
      const known = server();
      if (known !== null) this.set({ ...known }, 1);
    },
  });
}

/** How many hashes a pool computes, and how many wait for a thread. */
interface HashLoad {
  readonly running: number;
  readonly waiting: number;
}

/** Registers the queues of password hashes. @param pools by name: those of accounts and of shares */
export function registerHashMetrics(
  registry: Registry,
  pools: Readonly<Record<string, { readonly load: () => HashLoad }>>,
): void {
  new Gauge({
    name: 'stowage_hashes',
    help: 'Password hashes by pool and state: running on a thread, or waiting for one.',
    labelNames: ['pool', 'state'],
    registers: [registry],
    collect() {
      for (const [pool, { load }] of Object.entries(pools)) {
        const { running, waiting } = load();
        this.set({ pool, state: 'running' }, running);
        this.set({ pool, state: 'waiting' }, waiting);
      }
    },
  });
}

/** Registers the mails of the outbox. @param figures null while another process delivers them */
export function registerMailMetrics(
  registry: Registry,
  clock: { now(): Date },
  figures: () => { readonly records: number; readonly oldestAt: Date | null } | null,
): void {
  new Gauge({
    name: 'stowage_mail_outbox',
    help: 'Mails of the outbox that this process delivers and that the mail server has not accepted.',
    registers: [registry],
    collect() {
      this.set(figures()?.records ?? 0);
    },
  });
  new Gauge({
    name: 'stowage_mail_outbox_oldest_seconds',
    help: 'The age of the oldest of these mails; 0 when none waits.',
    registers: [registry],
    collect() {
      const { oldestAt = null } = figures() ?? {};
      this.set(oldestAt === null ? 0 : Math.max(0, clock.now().getTime() - oldestAt.getTime()) / 1_000);
    },
  });
}

/** The largest count. It is enough to show that a view lags. */
const behindMax = 1_000;

/** Registers how many events each view lacks. It reads the log only for views that lag. */
export function registerBehindMetrics(
  registry: Registry,
  deps: {
    /** Returns the views with the position up to which each contains the log; none before their start. */
    readonly views: () => readonly {
      readonly view: string;
      readonly position: Position | null;
      readonly lags: boolean;
    }[];
    readonly readAll: EventStore['readAll'];
  },
): void {
  new Gauge({
    name: 'stowage_projection_events_behind',
    help: `Events that a view does not contain yet; ${behindMax} are that many or more.`,
    labelNames: ['view'],
    registers: [registry],
    async collect() {
      this.reset();
      // Views that lag mostly stand at one position.
      const counts = new Map<Position | null, Promise<number>>();
      const count = async (after: Position | null): Promise<number> =>
        (await countAfter(deps, after, behindMax)).count;
      for (const { view, position, lags } of deps.views()) {
        if (lags && !counts.has(position)) counts.set(position, count(position));
        try {
          this.set({ view }, lags ? ((await counts.get(position)) ?? 0) : 0);
        } catch (error) {
          if (!(error instanceof StoreUnavailable)) throw error;
        }
      }
    },
  });
}

export interface NodeCheckMetrics {
  readonly counted: (ok: boolean) => void;
  register(registry: Registry): void;
}

/** Counts the checks of nodes that are counted in the state store. */
export function makeNodeCheckMetrics(): NodeCheckMetrics {
  const checks = new Counter({
    name: 'stowage_node_checks_total',
    help: 'Counted checks of nodes by result: ok or failed.',
    labelNames: ['result'],
    registers: [],
  });
  for (const result of ['ok', 'failed']) checks.inc({ result }, 0);
  return {
    counted: (ok) => {
      checks.inc({ result: ok ? 'ok' : 'failed' });
    },
    register: (registry) => {
      registry.registerMetric(checks);
    },
  };
}

/** Registers how many nodes have each status. They have no value while read models are unavailable. */
export function registerNodeMetrics(
  registry: Registry,
  deps: {
    /** All statuses, so that each has a value. */
    readonly statuses: readonly string[];
    readonly list: () => Promise<readonly { readonly status: string }[]>;
  },
): void {
  new Gauge({
    name: 'stowage_nodes',
    help: 'Registered nodes by the status that the peer list shows.',
    labelNames: ['status'],
    registers: [registry],
    async collect() {
      this.reset();
      try {
        const nodes = await deps.list();
        for (const status of deps.statuses) {
          this.set({ status }, nodes.filter((node) => node.status === status).length);
        }
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    },
  });
}
