import type { Clock } from '../../../kit/time/clock.js';
import { taskPart } from './assignment.js';
import { makeElapsed } from '../../../kit/time/elapsed.js';
import type { Members } from './members.js';
import type { PartProgress } from './picture.js';
import type { Task } from './tasks.js';

/** Work at intervals that one process does for all, as it feeds a view: docs/design.md#sharing. */
export interface SharedTask {
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
    members,
    clock,
    onRetry,
  }: {
    readonly members: Pick<Members, 'id' | 'declare' | 'withdraw' | 'feederOf' | 'feeding' | 'reports'>;
    readonly clock: Clock;
    readonly onRetry: (name: string, error: unknown) => void;
  },
): Task {
  const part = taskPart(name);
  const ending = new AbortController();
  const { signal } = ending;
  const elapsedMs = makeElapsed(clock);
  let failing = false;
  /** When this process last did the work, or began to do it for the others. Null while another process does it. */
  let doneAtMs: number | null = null;
  members.declare([part]);
  members.reports(part, progress);
  return {
    end: () => {
      members.withdraw(part);
      ending.abort();
    },
    done: run(),
  };

  async function run(): Promise<void> {
    while (!signal.aborted) {
      // An abort ends the loop.
      const interval = clock.sleep(intervalMs, signal).catch(() => undefined);
      const isHere = members.feederOf(part) === members.id;
      members.feeding(part, isHere);
      if (isHere) await attempt();
      else stand();
      await interval;
    }
    members.feeding(part, false);
  }

  /** Returns the time by which the work is late. */
  function progress(): PartProgress {
    if (doneAtMs === null) return { state: null, lagMs: 0, problem: null };
    const lagMs = Math.max(0, elapsedMs() - doneAtMs - intervalMs);
    const problem = failing ? 'the last attempt failed; the log says why' : null;
    return { state: failing ? 'failing' : 'running', lagMs, problem };
  }

  function stand(): void {
    doneAtMs = null;
    failing = false;
    pause();
  }

  async function attempt(): Promise<void> {
    doneAtMs ??= elapsedMs();
    try {
      await work(signal);
      failing = false;
      doneAtMs = elapsedMs();
    } catch (error) {
      if (!failing) onRetry(name, error);
      failing = true;
    }
  }
}
