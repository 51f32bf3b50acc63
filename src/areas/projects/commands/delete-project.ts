import type { ProjectDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { projectAggregate } from '../domain/project/project.js';

export interface DeleteProjectInput {
  readonly projectId: string;
}

/** Deletes a project; no request reaches it any more. @throws CommandRejected project_not_found; PreconditionFailed */
export type DeleteProject = (
  input: DeleteProjectInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<void>;

export function makeDeleteProject({ handler }: Pick<ProjectDeps, 'handler'>): DeleteProject {
  return async ({ projectId }, context, options) => {
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, { type: 'Delete' }, context, { ...options, revokesAccess: true });
  };
}
