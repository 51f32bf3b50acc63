import { backoff } from '../../kit/time/clock.js';
import { endsProcess, StoreUnavailable } from '../../event-sourcing/ports/errors.js';
import {
  type ProjectionRunner,
  startProjections,
} from '../../event-sourcing/feeding/projectors/projection-runner.js';
import { pruneViews } from '../../event-sourcing/views/generations/prune-views.js';
import { catchUpInThreads } from './catch-up.js';
import { type Print, sentenceOf } from '../starting.js';
import type { Services } from '../services.js';

const quarantinedMessage = 'a view has quarantined a stream';

/** Starts the projections. Resolves with null if the process ends first. @throws StoreDamaged */
export async function bringUpProjections(
  services: Services,
  {
    signal,
    fail,
    tell,
  }: {
    /** Aborts when the process ends. */
    readonly signal: AbortSignal;
    /** Receives the error of a store that is damaged or belongs to another service; the process should end. */
    readonly fail: (error: unknown) => void;
    readonly tell: Print;
  },
): Promise<ProjectionRunner | null> {
  const { logger } = services.log;
  // The loops of the views retry, and measure no time limit by a sleep.
  const clock = { ...services.clock, sleep: services.sleepUntilRetry };
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      await services.generations.start();
      // This process alone uses an embedded file, so no process of another release needs its views.
      if (services.config.mongoDbUrl === undefined) await prune(services);
      if (services.stores.allEmbedded) await catchUp(services, signal);
      if (ended(signal)) return null;
      const runner = await startProjections(
        { ...services, clock, lease: services.leases.feeder },
        {
          onRetry: (collection, error) => {
            services.noteRetry('a projection waits for its stores', error, { collection });
          },
          onStopped: (collection, error) => {
            const reason = sentenceOf(error);
            logger.error({ collection, error: reason }, 'a projection stopped');
            // An event that this version cannot read, and a damaged stream, stop only their view.
            if (endsProcess(error)) fail(error);
            else tell(`stowage: not ready: the view ${collection} has stopped: ${reason}`);
          },
          onQuarantined: (collection, { id, reason }) => {
            logger.error({ collection, id, error: reason }, quarantinedMessage);
          },
          onRebuilt: (collection, differences) => {
            logger.info({ collection, ...differences }, 'readers were switched to a rebuilt view');
          },
        },
      );
      services.viewLags.follow(runner);
      return runner;
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      services.noteRetry('waiting for the stores', error, { attempt });
      const waitMs = backoff(attempt, services.random, { first: 250, cap: 5_000 });
      // An aborted sleep ends the loop.
      await services.sleepUntilRetry(waitMs, signal).catch(() => undefined);
    }
  }
  return null;
}

/** Feeds views that are far behind, before any component of the service reads them. */
async function catchUp(services: Services, signal: AbortSignal): Promise<void> {
  const { logger } = services.log;
  const { dataDirectory: directory, streamPrefix } = services.config;
  await catchUpInThreads(
    { ...services, forgetDocuments: services.stores.forgetDocuments, directory, streamPrefix },
    {
      signal,
      onFailed: (reason) => {
        logger.warn({ error: reason }, 'the threads did not bring the views up to date; projectors go on');
      },
      onQuarantined: (collection, { id, reason }) => {
        logger.error({ collection, id, error: reason }, quarantinedMessage);
      },
    },
  );
}

/** TypeScript takes `signal.aborted` for unchanged during an `await`. */
function ended(signal: AbortSignal): boolean {
  return signal.aborted;
}

async function prune(services: Services): Promise<void> {
  const { collections, records } = await pruneViews(services);
  if (collections.length + records.length === 0) return;
  services.log.logger.info({ collections, records }, 'views that this release does not have were dropped');
}
