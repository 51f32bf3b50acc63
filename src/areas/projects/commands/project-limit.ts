import { type CountLimit, makeCountLimit } from '../../shared/count-limit.js';
import type { ProjectDeps } from '../deps.js';
import { ownedProjectsMax, projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import { ownersOf } from '../domain/project/fold.js';

/** Limits the projects that a user owns or pays for. `adding` throws CommandRejected project_limit_reached. */
export function makeProjectLimit({
  handler,
  projects,
  viewLags,
}: Pick<ProjectDeps, 'handler' | 'projects' | 'viewLags'>): CountLimit {
  return makeCountLimit({
    max: ownedProjectsMax,
    inView: (userId, limit) => projects.ownedIds(userId, limit),
    counts: async (projectId, userId) => {
      const { state } = await handler.load(projectAggregate, projectId);
      return state.status === 'existing' && ownersOf(state).includes(userId);
    },
    refuse: () =>
      rejectProject('project_limit_reached', `a user owns at most ${ownedProjectsMax} projects; delete one`),
    requireFresh: () => {
      viewLags.requireFresh('projects');
    },
  });
}
