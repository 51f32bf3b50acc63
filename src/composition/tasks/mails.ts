import { reactionConsumer } from '../../event-sourcing/feeding/consumers/names.js';
import { makeTasks, type Task } from '../../event-sourcing/feeding/consumers/tasks.js';
import type { Services } from '../services.js';

/** Delivers the mails of the outbox while this process is the owner of the lease. Without mail it does nothing. */
export function bringUpMails({
  mails,
  outbox,
  clock,
  leases,
}: Pick<Services, 'mails' | 'outbox' | 'clock' | 'leases'>): { readonly stop: () => Promise<void> } {
  if (mails === null) return { stop: () => Promise.resolve() };
  const { lane } = mails;
  const { feeder: lease } = leases;
  const tasks = makeTasks();
  lease.add(reactionConsumer('outbox'), () => {
    const figures = outbox.figures(lane.name);
    const lagMs = Math.max(0, clock.now().getTime() - (figures?.oldestAt ?? clock.now()).getTime());
    return { state: figures === null ? null : 'running', lagMs, problem: null };
  });
  adjust();
  const removeListener = lease.onChange(adjust);
  return {
    stop: () => {
      removeListener();
      return tasks.stop();
    },
  };

  function adjust(): void {
    tasks.adjust(new Map(lease.isOwner() ? [[lane.name, deliver]] : []));
  }

  function deliver(): Task {
    const close = outbox.open(lane);
    const ended = new AbortController();
    const done = new Promise<void>((resolve) => {
      ended.signal.addEventListener('abort', () => void close().then(resolve));
    });
    return {
      done,
      end: () => {
        ended.abort();
      },
    };
  }
}
