import { randomUUID } from 'node:crypto';
import { examineEveryMs, makeSilenceWatch } from '../commands/nodes/watch-silence.js';
import { startSharedTask } from '../event-sourcing/sharing/shared-task.js';
import type { Task } from '../event-sourcing/sharing/tasks.js';
import { sentenceOf } from './sentence-of.js';
import type { Services } from './services.js';
import { levelOf } from './store-reports.js';

/** Starts the watch for silent nodes, which one of the processes keeps (docs/design.md#node-checks). */
export function startSilenceWatch(
  services: Pick<Services, 'handler' | 'stores' | 'readers' | 'clock' | 'members' | 'log' | 'availability'>,
): Task {
  const { handler, stores, readers, clock, members, log, availability } = services;
  const name = 'node-silence';
  const watch = makeSilenceWatch({
    ...{ handler, stateStore: stores.stateStore, ...readers },
    newContext: () => {
      const commandId = randomUUID();
      const ids = { commandId, causationId: commandId, correlationId: commandId };
      return { ...ids, actor: `system:${name}`, time: clock.now() };
    },
  });
  return startSharedTask(
    { name, intervalMs: examineEveryMs, work: watch.examine, pause: watch.forget },
    {
      ...{ members, clock },
      onRetry: (task, error) => {
        log.logger[levelOf(availability, error)](
          { task, error: sentenceOf(error) },
          'a task failed; trying again',
        );
      },
    },
  );
}
