import type { JsonObject } from '../event-sourcing/ports/domain-event.js';
import type { Members } from '../event-sourcing/feeding/sharing/members.js';
import type { PartProgress, Picture } from '../event-sourcing/feeding/sharing/picture.js';
import type { StandingPart } from '../event-sourcing/feeding/sharing/standstill.js';
import type { Readiness } from './readiness.js';
import type { StoreState } from './stores/store-watch.js';

/** A store, a view, a reaction or a task, as operators see it. */
export interface Part extends JsonObject {
  readonly kind: string;
  readonly name: string;
  /**
   * `running`; `catching-up` with the log; `failing`; `stopped`; `unfed`: no process feeds it. Of a store `answers`, `away` or
   * `unknown` before its first call.
   */
  readonly state: string;
  /** The age of what waits, or of the silence of a store, in seconds. Null where this process cannot know it. */
  readonly lag_seconds: number | null;
  /** The ids of the processes that feed the part; empty for a store. */
  readonly fed_by: readonly string[];
  readonly problem: string | null;
}

/** The state of a process for operators: `/readyz` on `METRICS_PORT`, and `stowage status`. */
export interface Status extends JsonObject {
  readonly ready: boolean;
  /** The id by which `fed_by` names the process. Null before the stores are open. */
  readonly process: string | null;
  readonly version: string;
  readonly reasons: readonly string[];
  readonly parts: readonly Part[];
}

/** What a process knows of its parts. */
export interface StatusSources {
  readonly stores: () => readonly StoreState[];
  readonly readiness: Pick<Readiness, 'ready'>;
  readonly version: string;
  /** Null before the stores are open. */
  readonly members: () => Pick<Members, 'id' | 'live' | 'progress'> | null;
  /** Returns the parts that no process has fed for a while. */
  readonly unfed: () => readonly StandingPart[];
}

/** Returns the state of the process from memory alone: the report works while no store answers. */
export function reportStatus({ stores, readiness, version, members, unfed }: StatusSources): Status {
  const { ok, reasons } = readiness.ready();
  const picture = members();
  return {
    ready: ok,
    process: picture?.id ?? null,
    version,
    reasons,
    parts: [...stores().map(storePart), ...(picture === null ? [] : sharedParts(picture, unfed()))],
  };
}

function storePart({ name, awayMs, hasAnswered, failure }: StoreState): Part {
  const [isAway, isKnown] = [awayMs !== null, hasAnswered];
  return {
    kind: 'store',
    name,
    state: isAway ? 'away' : isKnown ? 'answers' : 'unknown',
    lag_seconds: seconds(awayMs ?? 0),
    fed_by: [],
    problem: failure,
  };
}

const kinds = ['view', 'reaction', 'task'];

/** Returns the views, reactions and tasks that some live process can feed, or that have stopped here. */
export function sharedParts(
  picture: Pick<Picture, 'id' | 'live' | 'progress'>,
  unfed: readonly StandingPart[],
): readonly Part[] {
  const own = picture.progress();
  const stopped = [...own].filter(([, { state }]) => state === 'stopped').map(([part]) => part);
  const parts = new Set([...picture.live().flatMap((member) => member.parts), ...stopped]);
  const unfedMs = new Map(unfed.map(({ part, forMs }) => [part, forMs]));
  return [...parts]
    .map((part) => sharedPart(part, { picture, own: own.get(part), unfedMs: unfedMs.get(part) }))
    .sort((one, other) => rankOf(one) - rankOf(other) || (one.name < other.name ? -1 : 1));
}

function rankOf({ kind }: Part): number {
  return kinds.indexOf(kind) < 0 ? kinds.length : kinds.indexOf(kind);
}

function sharedPart(
  part: string,
  {
    picture,
    own,
    unfedMs,
  }: {
    readonly picture: Pick<Picture, 'id' | 'live'>;
    readonly own: PartProgress | undefined;
    readonly unfedMs: number | undefined;
  },
): Part {
  const [kind = '', ...name] = part.split('/');
  const feeders = picture.live().filter(({ feeds }) => feeds.includes(part));
  const others = feeders.filter(({ id }) => id !== picture.id);
  const lagMs = ownLagMs(own) ?? lagOfOthers(part, others) ?? unfedMs ?? null;
  return {
    kind,
    name: name.join('/'),
    state: stateOf({ own, isFed: feeders.length > 0, isFedElsewhere: others.length > 0, unfedMs }),
    lag_seconds: lagMs === null ? null : seconds(lagMs),
    fed_by: feeders.map(({ id }) => id),
    problem: own?.problem ?? null,
  };
}

/** Returns null where the process that feeds the part knows its lag, and this one knows of none. */
function ownLagMs(own: PartProgress | undefined): number | null {
  return own === undefined || (own.state === null && own.lagMs === 0) ? null : own.lagMs;
}

function lagOfOthers(part: string, others: ReturnType<Picture['live']>): number | null {
  const known = others.map(({ lagsMs }) => lagsMs[part] ?? 0);
  return known.length === 0 ? null : Math.max(...known);
}

function stateOf(of: {
  readonly own: PartProgress | undefined;
  readonly isFed: boolean;
  readonly isFedElsewhere: boolean;
  readonly unfedMs: number | undefined;
}): string {
  if (of.unfedMs !== undefined) return of.own?.state === 'stopped' ? 'stopped' : 'unfed';
  // What has stopped here may run in a process of another release.
  if (of.isFedElsewhere && of.own?.state !== 'running') return 'running';
  return of.own?.state ?? (of.isFed ? 'running' : 'unfed');
}

function seconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}
