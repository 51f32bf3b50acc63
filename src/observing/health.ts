import type { Clock } from '../kit/time/clock.js';
import type {
  ProjectionRunner,
  ProjectionStatus,
} from '../event-sourcing/feeding/projectors/projection-runner.js';
import type { StalledConsumer } from '../event-sourcing/feeding/projectors/view-watch.js';
import type { LogReads } from './stores/store-metrics.js';
import type { StoreWatch } from './stores/store-watch.js';

/** Says whether this process may serve. Callers use both functions often, so they must be cheap. */
export interface Readiness {
  /** Returns whether the views have caught up once. A store that fails later fails only the requests that need it. */
  serving(): boolean;
  /**
   * Returns whether a balancer should send requests: the stores of reads answer, no projection has stopped or is far behind. The
   * reasons also name a log that does not answer, which only writes need.
   */
  ready(): { readonly ok: boolean; readonly reasons: readonly string[] };
}

export type Health = ReturnType<typeof makeHealth>;

const starting = 'starting: the views have not caught up yet';
const reportIntervalMs = 1_000;
const settleIntervalMs = 20;
/** A live projection is too far behind when events have waited for it this long. */
const lagMsMax = 30_000;
/** The process is not ready when every read of the log has failed for this long, also while the log's end answers. */
const unreadMsMax = 30_000;

export function makeHealth({
  stores,
  log,
  logReads,
  clock,
  onChange,
}: {
  readonly stores: Pick<StoreWatch, 'away'>;
  /** The name of the store that only writes need. */
  readonly log?: string;
  readonly logReads: Pick<LogReads, 'failingSinceMs'>;
  readonly clock: Clock;
  /** Receives the reasons for "not ready" after every change; an empty list when the process is ready. */
  readonly onChange?: (reasons: readonly string[]) => void;
}) {
  let runner: ProjectionRunner | null = null;
  let reached = false;
  let ending = false;
  let reported = starting;

  return {
    serving,
    ready: (): ReturnType<Readiness['ready']> => {
      if (ending) return { ok: false, reasons: ['shutting down'] };
      const away = stores.away();
      const hindering = hindrances();
      // All processes share the log. A balancer that took out all of them would take the reads away, too.
      const ok = hindering.length === 0 && away.every((name) => name === log);
      const reasons = away.map((name) =>
        name === log ? `${name} does not answer: writes are refused` : `${name} does not answer`,
      );
      return { ok, reasons: [...reasons, ...hindering] };
    },
    /** Returns the status of every projection of this process; empty before the start of the projections. */
    statuses: (): readonly ProjectionStatus[] => runner?.statuses() ?? [],
    /** Returns the views and reactions that no process feeds for a while. */
    stalled: (): readonly StalledConsumer[] => runner?.stalled() ?? [],
    /** Sets the projections when they run. */
    projectionsStarted: (started: ProjectionRunner) => {
      runner = started;
    },
    /** Resolves when each view has caught up or stopped: no later moment serves more. Rejects when the signal aborts. */
    settled: async (signal: AbortSignal) => {
      while (!serving() && !hasStopped()) await clock.sleep(settleIntervalMs, signal);
    },
    /** Sets the process to "not ready" before it ends, so that balancers send their requests elsewhere. */
    stopping: () => {
      ending = true;
    },
    /**
     * Reports every change of the reasons for "not ready" until the signal aborts. The watch of the stores reports the
     * stores that are away.
     */
    watch: async (signal: AbortSignal) => {
      while (!signal.aborted) {
        report();
        // An aborted sleep ends the loop.
        await clock.sleep(reportIntervalMs, signal).catch(() => undefined);
      }
    },
  };

  function serving(): boolean {
    // Every request calls this, so the result `true` is cached.
    if (!reached && runner !== null) reached = runner.live().reached;
    return reached;
  }

  /** Returns whether a view has stopped and no other one still catches up, so that no wait leads to more. */
  function hasStopped(): boolean {
    const states = runner?.live().statuses.map(({ state }) => state) ?? [];
    return states.includes('stopped') && !states.includes('catching-up');
  }

  /** Returns the reasons besides the stores. */
  function hindrances(): readonly string[] {
    const reasons = serving() ? [] : [starting];
    return [...reasons, ...logProblems(), ...projectionProblems()];
  }

  /** Reports the reasons after a change. The 503 replies contain no reasons, so operators read them in the log. */
  function report(): void {
    const reasons = ending ? ['shutting down'] : hindrances();
    // An age in seconds changes constantly, so the comparison ignores it.
    const gist = reasons.join('\n').replace(/\d+ s\b/g, '');
    if (gist === reported) return;
    reported = gist;
    onChange?.(reasons);
  }

  function logProblems(): readonly string[] {
    const since = logReads.failingSinceMs();
    const failingMs = since === null ? 0 : clock.steadyMs() - since;
    return failingMs < unreadMsMax
      ? []
      : [`the log could not be read for ${Math.round(failingMs / 1_000)} s`];
  }

  function projectionProblems(): readonly string[] {
    if (runner === null) return [];
    const problems = [...runner.problems()];
    const isLogAway = log !== undefined && stores.away().includes(log);
    for (const { collection, state, lagMs, reason } of runner.live().statuses) {
      if (state === 'stopped') problems.push(`the view ${collection} has stopped: ${reason ?? 'unknown'}`);
      else if (reached && lagMs > lagMsMax && !isLogAway)
        problems.push(`the view ${collection} is ${Math.round(lagMs / 1_000)} s behind`);
    }
    return problems;
  }
}
