import { ownedProjectsMax, projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import { ownersOf } from '../domain/project/status.js';
import { makePlaces, type Places } from '../../shared/places.js';
import type { ProjectDeps } from '../deps.js';

/**
 * Limits the projects that a user owns or pays for (src/areas/projects/README.md#places). `take` throws CommandRejected
 * project_limit_reached.
 */
export function makeProjectPlaces({
  projects,
  ...deps
}: Pick<ProjectDeps, 'stateStore' | 'clock' | 'handler' | 'projects'>): Places {
  return makePlaces({
    ...deps,
    name: 'places/projects',
    max: ownedProjectsMax,
    inView: (userId, limit) => projects.ownedIds(userId, limit),
    inLog: async (projectId, userId) => {
      const { state } = await deps.handler.load(projectAggregate, projectId);
      if (state.status === 'deleted') return 'holds-none';
      // A project of others may become the user's. One that the user has left never counts again by an old claim.
      return state.status === 'existing' && ownersOf(state).includes(userId) ? 'holds-a-place' : 'absent';
    },
    refuse: () =>
      rejectProject('project_limit_reached', `a user owns at most ${ownedProjectsMax} projects; delete one`),
  });
}
