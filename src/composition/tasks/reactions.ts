import { endsProcess } from '../../event-sourcing/ports/errors.js';
import type { ProjectionRunner } from '../../event-sourcing/feeding/projectors/projection-runner.js';
import { type ReactionRunner, startReactions } from '../../event-sourcing/effects/reaction-runner.js';
import { makeReactions } from './make-reactions.js';
import { sentenceOf } from '../sentence-of.js';
import type { Services } from '../services.js';
import { levelOf } from '../opening/store-reports.js';

/** @param fail receives the error of a store that is damaged or belongs to another service; the process should end */
export function bringUpReactions(
  services: Services,
  runner: Pick<ProjectionRunner, 'shows'>,
  fail: (error: unknown) => void,
): ReactionRunner {
  const { logger } = services.log;
  const { stateStore } = services.stores;
  const { feeder: lease } = services.leases;
  const deps = { ...services, stateStore, lease, holder: services.leases.feeder.id };
  return startReactions(deps, makeReactions(services, runner), {
    onRetry: (reaction, error, failures) => {
      const level = levelOf(services.availability, error);
      logger[level]({ reaction, error: sentenceOf(error), failures }, 'a reaction failed; trying again');
    },
    onSetApart: (reaction, { event, reason }) => {
      logger.error({ reaction, ...event, error: reason }, 'a reaction has set an event apart');
    },
    onStopped: (reaction, error) => {
      logger.error({ reaction, error: sentenceOf(error) }, 'a reaction stopped');
      // Too many events that cannot be read stop only their reaction.
      if (endsProcess(error)) fail(error);
    },
  });
}
