import { randomUUID } from 'node:crypto';
import { StoreDamaged } from '../event-sourcing/errors.js';
import type { ProjectionRunner } from '../event-sourcing/projection-runner.js';
import type { AnyReaction } from '../event-sourcing/reaction.js';
import { type ReactionRunner, startReactions } from '../event-sourcing/reaction-runner.js';
import { makeAccountReactions } from './account-reactions.js';
import { makeMailReactions } from './mail-reactions.js';
import { makePaymentReactions } from './payment-reactions.js';
import { makeProjectReactions } from './project-reactions.js';
import { sentenceOf } from './sentence-of.js';
import type { Services } from './services.js';
import { makeShareReactions } from './share-reactions.js';
import { makeStorageReactions } from './storage-reactions.js';

/** Every reaction. @param runner the running views, for reactions that need one to have come so far */
function makeReactions(services: Services, runner: Pick<ProjectionRunner, 'live'>): readonly AnyReaction[] {
  return [
    ...makeAccountReactions(services, runner),
    ...makeMailReactions(services),
    ...makePaymentReactions(services),
    ...makeProjectReactions(services, runner),
    ...makeShareReactions(services, runner),
    ...makeStorageReactions(services, runner),
  ];
}

/**
 * Starts every reaction.
 * @param fail told of a store that is damaged or belongs to something else: the process should end
 */
export function bringUpReactions(
  services: Services,
  runner: Pick<ProjectionRunner, 'live'>,
  fail: (error: unknown) => void,
): ReactionRunner {
  const { logger } = services.log;
  const { stateStore } = services.stores;
  const deps = { ...services, stateStore, holder: randomUUID() };
  return startReactions(deps, makeReactions(services, runner), {
    onRetry: (reaction, error, failures) => {
      logger.warn({ reaction, error: sentenceOf(error), failures }, 'a reaction failed; trying again');
    },
    onStopped: (reaction, error) => {
      logger.error({ reaction, error: sentenceOf(error) }, 'a reaction stopped');
      // An event that this version cannot read stops its reaction alone.
      if (error instanceof StoreDamaged) fail(error);
    },
  });
}
