import { sharesProjection } from '../../projections/shares/projection.js';
import type { ProjectionRunner } from '../event-sourcing/projection-runner.js';
import { type AnyReaction, showsUpTo } from '../event-sourcing/reaction.js';
import { makeEraseShareKeys } from '../reactions/erase-share-keys.js';
import { makeRecordShareAccesses } from '../reactions/record-share-accesses.js';
import type { Services } from './services.js';

/** The reactions that finish what was begun with shares. */
export function makeShareReactions(
  { commands, clock }: Pick<Services, 'commands' | 'clock'>,
  runner: Pick<ProjectionRunner, 'live'>,
): readonly AnyReaction[] {
  return [
    makeRecordShareAccesses({ ...commands, clock }),
    makeEraseShareKeys({
      ...commands,
      sharesShown: (position) => showsUpTo(runner, sharesProjection, position),
    }),
  ];
}
