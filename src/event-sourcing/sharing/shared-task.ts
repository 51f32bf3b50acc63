import type { Clock } from '../ports/clock.js';
import { taskPart } from './assignment.js';
import type { Members } from './members.js';
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
    readonly members: Pick<Members, 'id' | 'declare' | 'withdraw' | 'feederOf' | 'feeding'>;
    readonly clock: Pick<Clock, 'sleep'>;
    readonly onRetry: (name: string, error: unknown) => void;
  },
): Task {
  const part = taskPart(name);
  const ending = new AbortController();
  const { signal } = ending;
  let failing = false;
  members.declare([part]);
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
      else pause();
      await interval;
    }
    members.feeding(part, false);
  }

  async function attempt(): Promise<void> {
    try {
      await work(signal);
      failing = false;
    } catch (error) {
      if (!failing) onRetry(name, error);
      failing = true;
    }
  }
}
