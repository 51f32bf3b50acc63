/** Work that runs until its owner ends it. */
export interface Task {
  end(): void;
  /** Resolves when the work has ended. Never rejects. */
  readonly done: Promise<void>;
}

/** The tasks of this process, by name. */
interface Tasks<Kind extends Task> {
  /** Ends the tasks that are not wanted, and starts those that are wanted and do not run. */
  adjust(wanted: ReadonlyMap<string, () => Kind>): void;
  get(name: string): Kind | null;
  /** Returns the wanted tasks, also those that have ended by themselves. */
  all(): readonly Kind[];
  /** Ends all tasks and starts none any more. */
  stop(): Promise<void>;
}

/**
 * A new task waits for the old one of its name. Both would hold claims of this process, and an effect would run twice.
 */
export function makeTasks<Kind extends Task>(): Tasks<Kind> {
  const running = new Map<string, Kind>();
  const ending = new Map<string, Promise<void>>();
  let wanted: ReadonlyMap<string, () => Kind> = new Map();
  let stopped = false;

  return {
    adjust: (next) => {
      if (stopped) return;
      wanted = next;
      adjust();
    },
    get: (name) => running.get(name) ?? null,
    all: () => [...running.values()],
    stop: async () => {
      stopped = true;
      for (const task of running.values()) task.end();
      await Promise.all([...ending.values(), ...[...running.values()].map(({ done }) => done)]);
    },
  };

  function adjust(): void {
    for (const [name, task] of running) {
      if (wanted.has(name)) continue;
      running.delete(name);
      task.end();
      ending.set(
        name,
        task.done.then(() => {
          ending.delete(name);
          if (!stopped) adjust();
        }),
      );
    }
    for (const [name, start] of wanted) {
      if (!running.has(name) && !ending.has(name)) running.set(name, start());
    }
  }
}
