import { projectsProjection } from '../../projections/projects/projection.js';
import { sessionsProjection } from '../../projections/sessions/projection.js';
import type { ProjectionRunner } from '../event-sourcing/projection-runner.js';
import { type AnyReaction, showsUpTo } from '../event-sourcing/reaction.js';
import { makeFinishEmailChanges, makeReleaseFormerAddresses } from '../reactions/finish-email-change.js';
import { makeFinishErasures } from '../reactions/finish-erasure.js';
import type { Services } from './services.js';

/** What accounts leave to reactions: the ends of what a process may have been stopped in. */
export function makeAccountReactions(
  { commands }: Pick<Services, 'commands'>,
  runner: Pick<ProjectionRunner, 'live'>,
): readonly AnyReaction[] {
  return [
    makeFinishEmailChanges(commands),
    makeReleaseFormerAddresses(commands),
    makeFinishErasures({
      ...commands,
      viewsShow: (position) =>
        [sessionsProjection, projectsProjection].every((view) => showsUpTo(runner, view, position)),
    }),
  ];
}
