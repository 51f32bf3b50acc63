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
  /** Probes the stores every 2 s until the signal aborts, and tells of every change of what keeps the process from being ready. */
  watch(signal: AbortSignal): Promise<void>;
}

const starting = 'starting: the views have not caught up yet';
const probeIntervalMs = 2_000;
/** A live projection that has not taken an event recorded this long ago is far behind. */
const lagMsMax = 30_000;

export function makeHealth({
  probes,
  clock,
  onChange,
}: {
  readonly probes: readonly Probe[];
  readonly clock: Clock;
  /** Told what keeps the process from being ready, whenever that changes; nothing any more: empty. */
  readonly onChange?: (reasons: readonly string[]) => void;
}): Health {
  let runner: ProjectionRunner | null = null;
  let reached = false;
  let ending = false;
  let failing: readonly string[] = [];
  let told = starting;

  return {
    serving,
    ready: () => {
      const reasons = hindrances();
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
        tell();
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

  function hindrances(): readonly string[] {
    if (ending) return ['shutting down'];
    const reasons = serving() ? [] : [starting];
    return [...reasons, ...failing.map((name) => `the ${name} does not answer`), ...projectionProblems()];
  }

  /** Replies of 503 say nothing of the inside; whoever runs the service reads it in the log. */
  function tell(): void {
    const reasons = hindrances();
    // Ages in seconds change all the time; that is no news.
    const gist = reasons.join('\n').replace(/\d+ s behind/g, 'behind');
    if (gist === told) return;
    told = gist;
    onChange?.(reasons);
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
