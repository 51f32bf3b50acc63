import { type AnyView, viewVersion } from '../../views/projection.js';

/** The name of what an owner feeds: `view/<view>@<version>`, `reaction/<name>`, `reaction/webhook-<endpoint>`, `task/<name>`. */
type ConsumerName = string;

const [views, reactions] = ['view/', 'reaction/'];
export const taskPrefix = 'task/';
const endpoints = `${reactions}webhook-`;

/** Returns the name of a view. All of its generations are one consumer. */
export function viewConsumer(view: AnyView): ConsumerName {
  return `${views}${viewVersion(view)}`;
}

export function reactionConsumer(name: string): ConsumerName {
  return `${reactions}${name}`;
}

/** Returns the name of an endpoint of outgoing events. */
export function endpointConsumer(id: string): ConsumerName {
  return `${endpoints}${id}`;
}

/** Returns the name of work that one process does at intervals, which is also the key of its lease. */
export function taskConsumer(name: string): ConsumerName {
  return `${taskPrefix}${name}`;
}

/** The sequencing of the audit log, which reads the log as views do. */
export const auditConsumer = taskConsumer('audit-log');

export function isViewConsumer(consumer: ConsumerName): boolean {
  return consumer.startsWith(views);
}

/** Returns whether the consumer is a reaction of the service, and no endpoint. */
export function isReactionConsumer(consumer: ConsumerName): boolean {
  return consumer.startsWith(reactions) && !consumer.startsWith(endpoints);
}

/** Names a consumer in a sentence: "the view users@1". */
export function nameOf(consumer: ConsumerName): string {
  return `the ${consumer.replace('/', ' ')}`;
}

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
