import type { JsonObject } from '../event-sourcing/ports/domain-event.js';
import type { LeaseRecord, Progress } from '../event-sourcing/feeding/consumers/lease.js';
import type { StalledConsumer } from '../event-sourcing/feeding/projectors/view-watch.js';
import type { Readiness } from './health.js';
import type { StoreState } from './stores/store-watch.js';

/** A store, a view, a reaction or a task, as operators see it. */
interface Component extends JsonObject {
  readonly kind: string;
  readonly name: string;
  /**
   * `running`; `catching-up` with the log; `failing`; `stopped`; `stalled`: no process feeds it. Of a store `answers`, `away` or
   * `unknown` before its first call.
   */
  readonly state: string;
  /** The age of what waits, or of the silence of a store, in seconds. Null where this process cannot know it. */
  readonly lag_seconds: number | null;
  /** The ids of the processes that feed the component; empty for a store. */
  readonly feeders: readonly string[];
  readonly problem: string | null;
}

/** The state of a process for operators: `/readyz` on `METRICS_PORT`, and `stowage status`. */
export interface Status extends JsonObject {
  readonly ready: boolean;
  /** The id by which `feeders` names the process. Null before the stores are open. */
  readonly process: string | null;
  readonly version: string;
  readonly reasons: readonly string[];
  readonly components: readonly Component[];
}

/** What a process knows of its components. */
interface StatusSources {
  readonly stores: () => readonly StoreState[];
  readonly readiness: Pick<Readiness, 'ready'>;
  readonly version: string;
  /** Null before the stores are open. */
  readonly feeding: () => Feeding | null;
  /** Returns the consumers that no process feeds for a while. */
  readonly stalled: () => readonly StalledConsumer[];
}

/** What a process knows of the views, reactions and tasks. */
export interface Feeding {
  /** The id of this process; null without a service. */
  readonly id: string | null;
  /** By consumer. */
  readonly progress: ReadonlyMap<string, Progress>;
  /** Of this process, where it is the owner, and of other owners. */
  readonly records: readonly LeaseRecord[];
}

/** Returns the state of the process from memory alone: the report works while no store answers. */
export function reportStatus({ stores, readiness, version, feeding, stalled }: StatusSources): Status {
  const { ok, reasons } = readiness.ready();
  const known = feeding();
  return {
    ready: ok,
    process: known?.id ?? null,
    version,
    reasons,
    components: [...stores().map(storeComponent), ...(known === null ? [] : consumersIn(known, stalled()))],
  };
}

function storeComponent({ name, awayMs, hasAnswered, failure, server }: StoreState): Component {
  const [isAway, isKnown] = [awayMs !== null, hasAnswered];
  return {
    kind: 'store',
    name: server === null ? name : `${name}, ${server.product} ${server.version}`,
    state: isAway ? 'away' : isKnown ? 'answers' : 'unknown',
    lag_seconds: seconds(awayMs ?? 0),
    feeders: [],
    problem: failure,
  };
}

const kinds = ['view', 'reaction', 'task'];

/** Returns the views, reactions and tasks that this process has or an owner feeds. */
export function consumersIn(feeding: Feeding, stalled: readonly StalledConsumer[]): readonly Component[] {
  const { progress, records } = feeding;
  const stalledMs = new Map(stalled.map(({ consumer, forMs }) => [consumer, forMs]));
  return [...new Set([...records.flatMap(({ feeds }) => feeds), ...progress.keys()])]
    .map((consumer) => componentOf(consumer, feeding, stalledMs.get(consumer)))
    .sort((one, other) => rankOf(one) - rankOf(other) || (one.name < other.name ? -1 : 1));
}

function rankOf({ kind }: Component): number {
  return kinds.indexOf(kind) < 0 ? kinds.length : kinds.indexOf(kind);
}

function componentOf(consumer: string, { id, progress, records }: Feeding, stalledMs?: number): Component {
  const [kind = '', ...name] = consumer.split('/');
  const own = progress.get(consumer);
  const feeders = records.filter(({ feeds }) => feeds.includes(consumer));
  const others = feeders.filter(({ owner }) => owner !== id);
  const lagMs = ownLagMs(own) ?? lagOfOthers(consumer, others) ?? stalledMs ?? null;
  return {
    kind,
    name: name.join('/'),
    state: stateOf({ own, isActive: feeders.length > 0, isActiveElsewhere: others.length > 0, stalledMs }),
    lag_seconds: lagMs === null ? null : seconds(lagMs),
    feeders: feeders.map(({ owner }) => owner),
    problem: own?.problem ?? null,
  };
}

/** Returns null where the owner knows the lag, and this process knows of none. */
function ownLagMs(own: Progress | undefined): number | null {
  return own === undefined || (own.state === null && own.lagMs === 0) ? null : own.lagMs;
}

function lagOfOthers(consumer: string, others: readonly LeaseRecord[]): number | null {
  const known = others.map(({ lags_ms }) => lags_ms[consumer] ?? 0);
  return known.length === 0 ? null : Math.max(...known);
}

function stateOf(of: {
  readonly own: Progress | undefined;
  readonly isActive: boolean;
  readonly isActiveElsewhere: boolean;
  readonly stalledMs: number | undefined;
}): string {
  if (of.stalledMs !== undefined) return of.own?.state === 'stopped' ? 'stopped' : 'stalled';
  // What has stopped here may run in a process of another release.
  if (of.isActiveElsewhere && of.own?.state !== 'running') return 'running';
  return of.own?.state ?? (of.isActive ? 'running' : 'stalled');
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
