import { reasonOf } from '../../ports/errors.js';
import type { Lease, Progress } from './lease.js';
import { makeTasks, type Task } from './tasks.js';

/** The work of one task, until its signal aborts. */
interface RunningTask<Status> {
  status(): Status;
  /** @throws every error that no retry cures: the consumer has stopped */
  readonly done: Promise<void>;
}

/** What an owner of the lease feeds: a view, a reaction, an endpoint or the outbox. */
interface Consumer<Status> {
  /** Its name in the lease. */
  readonly name: string;
  /**
   * Returns its tasks by name: a view has one for each collection.
   * @param running the status of each task that runs
   */
  readonly tasks: (
    running: readonly Status[],
  ) => ReadonlyMap<string, (signal: AbortSignal) => RunningTask<Status>>;
  readonly progress: (running: readonly Status[]) => Progress;
}

interface Running<Status> extends Task {
  status(): Status;
}

/** The consumers of one process, while it is the owner of the lease. */
export interface Consumers<Status> {
  /** Starts and ends tasks after a change of `tasks`. */
  readonly adjust: () => void;
  readonly get: (task: string) => Status | null;
  /** Returns the status of every task that this process runs, or that has stopped in it. */
  readonly statuses: () => readonly Status[];
  readonly isFedHere: (consumer: string) => boolean;
  /** Ends all tasks, and waits for them. */
  stop(): Promise<void>;
}

/**
 * Runs the consumers while this process is the owner of the lease, independently of one another. When one stops, another
 * process takes the lease over; the stopped task stays here for its reason: src/event-sourcing/feeding/README.md#the-lease.
 */
export function runConsumers<Status extends { readonly state: string }>(
  lease: Pick<Lease, 'add' | 'isOwner' | 'onChange' | 'stopped'>,
  consumers: readonly Consumer<Status>[],
  onStopped: (task: string, error: unknown) => void,
): Consumers<Status> {
  const tasks = makeTasks<Running<Status>>();
  const stoppedHere = new Set<string>();
  /** The names of the tasks that each consumer has here. */
  const taskNames = new Map<string, readonly string[]>();
  const isFedHere = (name: string): boolean => lease.isOwner() || stoppedHere.has(name);
  const statusesOf = (consumer: string): readonly Status[] =>
    (taskNames.get(consumer) ?? []).flatMap((task) => tasks.get(task)?.status() ?? []);
  for (const { name, progress } of consumers) lease.add(name, () => progress(statusesOf(name)));
  adjust();
  const removeListener = lease.onChange(adjust);
  return {
    adjust,
    get: (task) => tasks.get(task)?.status() ?? null,
    statuses: () => tasks.all().map((task) => task.status()),
    isFedHere,
    stop: async () => {
      removeListener();
      await tasks.stop();
    },
  };

  function adjust(): void {
    const wanted = new Map<string, () => Running<Status>>();
    for (const { name, tasks: tasksOf } of consumers) {
      const own = isFedHere(name) ? tasksOf(statusesOf(name)) : new Map<string, never>();
      taskNames.set(name, [...own.keys()]);
      for (const [task, start] of own) wanted.set(task, () => startTask(name, task, start));
    }
    tasks.adjust(wanted);
  }

  function startTask(
    consumer: string,
    task: string,
    start: (signal: AbortSignal) => RunningTask<Status>,
  ): Running<Status> {
    const ending = new AbortController();
    let reason: string | null = null;
    const work = start(ending.signal);
    return {
      end: () => ending.abort(),
      status: () => (reason === null ? work.status() : { ...work.status(), state: 'stopped', reason }),
      done: work.done.catch((error: unknown) => {
        reason = reasonOf(error);
        onStopped(task, error);
        stoppedHere.add(consumer);
        lease.stopped(consumer);
      }),
    };
  }
}
