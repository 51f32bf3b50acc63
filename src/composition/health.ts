import type { Clock } from '../event-sourcing/clock.js';
import type { ProjectionRunner, ProjectionStatus } from '../event-sourcing/projection-runner.js';
import type { Readiness } from '../http/readiness.js';

/** What is asked of a store to see whether it answers. */
export interface Probe {
  /** As readiness names it: `event store`, `read models`, `state`. */
  readonly name: string;
  readonly ping: () => Promise<unknown>;
}

export interface Health extends Readiness {
  /** Of every projection that runs here; empty before they do. */
  readonly statuses: () => readonly ProjectionStatus[];
  /** Tells of the projections once they run. */
  projectionsStarted(runner: ProjectionRunner): void;
  /** Says that the process is ending: not ready any more, so that balancers turn away. */
  stopping(): void;
  /** Probes the stores every 2 s until the signal aborts. */
  watch(signal: AbortSignal): Promise<void>;
}

const probeIntervalMs = 2_000;
/** A live projection that has not taken an event recorded this long ago is far behind. */
const lagMsMax = 30_000;

export function makeHealth({
  probes,
  clock,
}: {
  readonly probes: readonly Probe[];
  readonly clock: Clock;
}): Health {
  let runner: ProjectionRunner | null = null;
  let reached = false;
  let ending = false;
  let failing: readonly string[] = [];

  return {
    serving,
    ready: () => {
      if (ending) return { ok: false, reasons: ['shutting down'] };
      const reasons = serving() ? [] : ['starting: the views have not caught up yet'];
      reasons.push(...failing.map((name) => `the ${name} does not answer`), ...projectionProblems());
      return { ok: reasons.length === 0, reasons };
    },
    statuses: () => runner?.statuses() ?? [],
    projectionsStarted: (started) => {
      runner = started;
    },
    stopping: () => {
      ending = true;
    },
    watch: async (signal) => {
      while (!signal.aborted) {
        await probeAll();
        // An aborted wait ends the loop.
        await clock.sleep(probeIntervalMs, signal).catch(() => undefined);
      }
    },
  };

  function serving(): boolean {
    // Asked on every request: once reached it costs nothing.
    if (!reached && runner !== null) reached = runner.live().reached;
    return reached;
  }

  function projectionProblems(): readonly string[] {
    if (runner === null) return [];
    const nowMs = clock.now().getTime();
    const problems: string[] = [];
    for (const { collection, state, atHead, lastEventAt, reason } of runner.live().statuses) {
      const behindMs = atHead || lastEventAt === null ? 0 : nowMs - lastEventAt.getTime();
      if (state === 'stopped') problems.push(`the view ${collection} has stopped: ${reason ?? 'unknown'}`);
      else if (reached && behindMs > lagMsMax)
        problems.push(`the view ${collection} is ${Math.round(behindMs / 1000)} s behind`);
    }
    return problems;
  }

  async function probeAll(): Promise<void> {
    const answers = await Promise.all(
      probes.map(({ name, ping }) =>
        ping().then(
          () => null,
          () => name,
        ),
      ),
    );
    failing = answers.filter((name) => name !== null);
  }
}
