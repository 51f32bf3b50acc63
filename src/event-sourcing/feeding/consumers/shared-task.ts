import type { Clock } from '../../../kit/time/clock.js';
import { type Task, taskConsumer } from './tasks.js';
import type { Lease, Progress } from './lease.js';

/** Work at intervals that the owner of its lease does for all processes: src/event-sourcing/feeding/README.md#the-lease. */
interface SharedTask {
  /** In kebab case. */
  readonly name: string;
  readonly intervalMs: number;
  /** Does the work once. The task goes on after an error. */
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** Runs when another process does the work: what this one has observed counts no more. */
  readonly pause: () => void;
}

/**
 * Starts the task. The intervals are those of the timer, which no step of the wall clock changes. Two processes may do the
 * work at once for a short time.
 * @param deps.onRetry receives the first error of each series
 */
export function startSharedTask(
  { name, intervalMs, work, pause }: SharedTask,
  {
    lease,
    clock,
    onRetry,
  }: {
    /** The lease of this task. It is started and stopped with the task. */
    readonly lease: Lease;
    readonly clock: Clock;
    readonly onRetry: (name: string, error: unknown) => void;
  },
): Task {
  const ending = new AbortController();
  const { signal } = ending;
  let failing = false;
  /** When this process last did the work, or began to do it for the others. Null while another process does it. */
  let doneAtMs: number | null = null;
  lease.add(taskConsumer(name), progress);
  lease.start();
  return {
    end: () => ending.abort(),
    // Its lease is given up earlier, where the process ends.
    done: run().then(() => lease.stop()),
  };

  async function run(): Promise<void> {
    let waking = new AbortController();
    const wake = (): void => waking.abort();
    const removeListener = lease.onChange(wake);
    signal.addEventListener('abort', wake, { once: true });
    while (!signal.aborted) {
      waking = new AbortController();
      // An abort ends the loop, and a process that becomes the owner begins at once.
      const interval = clock.sleep(intervalMs, waking.signal).catch(() => undefined);
      if (lease.isOwner()) await attempt();
      else stand();
      await interval;
    }
    removeListener();
  }

  /** Returns the time by which the work is late. */
  function progress(): Progress {
    if (doneAtMs === null) return { state: null, lagMs: 0, problem: null };
    const lagMs = Math.max(0, clock.steadyMs() - doneAtMs - intervalMs);
    const problem = failing ? 'the last attempt failed; the log says why' : null;
    return { state: failing ? 'failing' : 'running', lagMs, problem };
  }

  function stand(): void {
    doneAtMs = null;
    failing = false;
    pause();
  }

  async function attempt(): Promise<void> {
    doneAtMs ??= clock.steadyMs();
    try {
      await work(signal);
      failing = false;
      doneAtMs = clock.steadyMs();
    } catch (error) {
      if (!failing) onRetry(name, error);
      failing = true;
    }
  }
}
