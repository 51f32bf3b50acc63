import { reactionConsumer } from '../../event-sourcing/feeding/consumers/names.js';
import { runConsumers } from '../../event-sourcing/feeding/consumers/run-consumers.js';
import { sentenceOf } from '../sentence-of.js';
import type { Services } from '../services.js';

const reaction = 'outbox';

/** Delivers the mails of the outbox while this process is the owner of the lease. Without mail it does nothing. */
export function bringUpMails({
  mails,
  outbox,
  clock,
  leases,
  log,
}: Pick<Services, 'mails' | 'outbox' | 'clock' | 'leases' | 'log'>): { readonly stop: () => Promise<void> } {
  if (mails === null) return { stop: () => Promise.resolve() };
  const { lane } = mails;
  return runConsumers(
    leases.feeder,
    [
      {
        name: reactionConsumer(reaction),
        tasks: () => new Map([[lane.name, deliver]]),
        progress: () => {
          const figures = outbox.figures(lane.name);
          const lagMs = Math.max(0, clock.now().getTime() - (figures?.oldestAt ?? clock.now()).getTime());
          return { state: figures === null ? null : 'running', lagMs, problem: null };
        },
      },
    ],
    (_, error) => {
      log.logger.error({ reaction, error: sentenceOf(error) }, 'a reaction stopped');
    },
  );

  function deliver(signal: AbortSignal) {
    const close = outbox.open(lane);
    const done = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => {
        resolve(close());
      });
    });
    return { done, status: () => ({ state: 'running' }) };
  }
}
