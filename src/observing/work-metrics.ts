import { Counter, type Registry } from 'prom-client';
import { countAfter } from '../event-sourcing/feeding/read-log.js';
import type { EventStore } from '../event-sourcing/ports/event-store.js';
import type { Position } from '../event-sourcing/ports/domain-event.js';
import { StoreUnavailable } from '../event-sourcing/ports/errors.js';
import { gaugesOf, secondsSince } from './gauges.js';

/** Registers the release of the process, as a gauge of 1 with labels. */
export function registerBuildInfo(registry: Registry, version: string): void {
  const gauge = gaugesOf(registry);
  gauge(
    'stowage_build_info',
    '1, with the version of the service and of Node as labels.',
    () => [[{ version, node: process.versions.node }, 1]],
    ['version', 'node'],
  );
}

/** @param server of the link of the event store */
export function registerServerInfo(
  registry: Registry,
  server: () => { readonly product: string; readonly version: string } | null,
): void {
  const gauge = gaugesOf(registry);
  gauge(
    'stowage_event_store_info',
    '1, with the product and the version that the event store names as labels. Absent with embedded stores.',
    () => {
      const known = server();
      return known === null ? [] : [[{ ...known }, 1]];
    },
    ['product', 'version'],
  );
}

/** Registers the queues of password hashes. @param pools by name: those of accounts and of shares */
export function registerHashMetrics(
  registry: Registry,
  pools: Readonly<Record<string, { readonly load: () => Readonly<Record<'running' | 'waiting', number>> }>>,
): void {
  const gauge = gaugesOf(registry);
  gauge(
    'stowage_hashes',
    'Password hashes by pool and state: running on a thread, or waiting for one.',
    () =>
      Object.entries(pools).flatMap(([pool, { load }]) =>
        Object.entries(load()).map(([state, count]) => [{ pool, state }, count] as const),
      ),
    ['pool', 'state'],
  );
}

/** Registers the mails of the outbox. @param figures null while another process delivers them */
export function registerMailMetrics(
  registry: Registry,
  clock: { now(): Date },
  figures: () => { readonly records: number; readonly oldestAt: Date | null } | null,
): void {
  const gauge = gaugesOf(registry);
  gauge(
    'stowage_mail_outbox',
    'Mails of the outbox that this process delivers and that the mail server has not accepted.',
    () => figures()?.records ?? 0,
  );
  gauge(
    'stowage_mail_outbox_oldest_seconds',
    'The age of the oldest of these mails; 0 when none waits.',
    () => secondsSince(clock, figures()?.oldestAt ?? null),
  );
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
  const gauge = gaugesOf(registry);
  gauge(
    'stowage_projection_events_behind',
    `Events that a view does not contain yet; ${behindMax} are that many or more.`,
    async () => {
      // Views that lag mostly stand at one position.
      const counts = new Map<Position | null, number | null>();
      const count = async (after: Position | null): Promise<number | null> => {
        try {
          return (await countAfter(deps, after, behindMax)).count;
        } catch (error) {
          // The other views still have their 0.
          if (error instanceof StoreUnavailable) return null;
          throw error;
        }
      };
      const views = deps.views();
      for (const { position, lags } of views) {
        if (lags && !counts.has(position)) counts.set(position, await count(position));
      }
      return views.flatMap(({ view, position, lags }) => {
        const behind = lags ? (counts.get(position) ?? null) : 0;
        return behind === null ? [] : [[{ view }, behind] as const];
      });
    },
    ['view'],
  );
}

/** Counts the checks of nodes that are counted in the state store. */
export function makeNodeCheckMetrics() {
  const checks = new Counter({
    name: 'stowage_node_checks_total',
    help: 'Counted checks of nodes by result: ok or failed.',
    labelNames: ['result'],
    registers: [],
  });
  for (const result of ['ok', 'failed']) checks.inc({ result }, 0);
  return {
    counted: (ok: boolean) => checks.inc({ result: ok ? 'ok' : 'failed' }),
    register: (registry: Registry) => registry.registerMetric(checks),
  };
}

/** Registers how many nodes have each status. */
export function registerNodeMetrics(
  registry: Registry,
  deps: {
    /** All statuses, so that each has a value. */
    readonly statuses: readonly string[];
    readonly list: () => Promise<readonly { readonly status: string }[]>;
  },
): void {
  const gauge = gaugesOf(registry);
  gauge(
    'stowage_nodes',
    'Registered nodes by the status that the peer list shows.',
    async () => {
      const nodes = await deps.list();
      return deps.statuses.map((status) => [
        { status },
        nodes.filter((node) => node.status === status).length,
      ]);
    },
    ['status'],
  );
}
