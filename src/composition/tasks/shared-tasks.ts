import { randomUUID } from 'node:crypto';
import { examineEveryMs, makeSilenceWatch } from '../../areas/nodes/commands/watch-silence.js';
import type { Clock } from '../../kit/time/clock.js';
import type { CommandContext } from '../../event-sourcing/ports/command-context.js';
import { startSharedTask } from '../../event-sourcing/feeding/consumers/shared-task.js';
import type { Task } from '../../event-sourcing/feeding/consumers/tasks.js';
import { makeProbe, proberName, startProber } from '../../areas/nodes/prober.js';
import type { Services } from '../services.js';

type TaskServices = Pick<
  Services,
  'config' | 'handler' | 'commands' | 'stores' | 'readers' | 'clock' | 'leases' | 'log' | 'noteRetry'
>;

const silenceName = 'node-silence';

/** Starts the tasks that one of the processes does for all (src/event-sourcing/feeding/README.md#the-lease). */
export function startSharedTasks(services: TaskServices): readonly Task[] {
  const { nodeProber } = services.config;
  const silence = startSilenceWatch(services);
  if (nodeProber === undefined) return [silence];
  const { readers, commands, log } = services;
  const prober = startProber({
    ...taskDeps(services, proberName),
    nodes: readers.nodes,
    reportNodeCheck: commands.reportNodeCheck,
    probe: makeProbe(nodeProber),
    onLate: (turns) => log.logger.warn({ turns }, 'nodes are probed late: too many of them do not answer'),
  });
  return [silence, prober];
}

/** Starts the watch for silent nodes (src/areas/nodes/README.md#node-checks). */
function startSilenceWatch(services: TaskServices): Task {
  const { handler, stores, readers } = services;
  const deps = taskDeps(services, silenceName);
  const watch = makeSilenceWatch({ handler, stateStore: stores.stateStore, ...readers, ...deps });
  return startSharedTask(
    { name: silenceName, intervalMs: examineEveryMs, work: watch.examine, pause: watch.forget },
    deps,
  );
}

function taskDeps({ leases, clock, noteRetry }: TaskServices, name: string) {
  return {
    ...{ lease: leases.task(name), clock },
    newContext: () => systemContext(name, clock),
    onRetry: (task: string, error: unknown): void => {
      noteRetry('a task failed; trying again', error, { task });
    },
  };
}

/** Makes the context of a command that a task of the service gives. */
export function systemContext(task: string, clock: Pick<Clock, 'now'>): CommandContext {
  const commandId = randomUUID();
  const ids = { commandId, causationId: commandId, correlationId: commandId };
  return { ...ids, actor: `system:${task}`, time: clock.now() };
}
