import { projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import type { ProjectDeps } from '../deps.js';

/** Returns the user whose capacity the assets of a project use. @throws CommandRejected project_not_found */
export type PayerOf = (projectId: string) => Promise<string>;

export function makePayerOf({ handler }: Pick<ProjectDeps, 'handler'>): PayerOf {
  return async (projectId) => {
    const { state } = await handler.load(projectAggregate, projectId);
    return state.status === 'existing'
      ? state.billed_to
      : rejectProject('project_not_found', 'there is no such project');
  };
}
