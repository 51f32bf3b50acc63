import type { ProjectDeps } from '../deps.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { loadOfNew } from '../../../event-sourcing/deciding/command-handler.js';
import { derivedId } from '../../../event-sourcing/deciding/ids.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import { checkName } from '../../../validation/text.js';
import type { CountLimit } from '../../shared/count-limit.js';
import type { ProjectResource } from '../../../../projections/projects/projects/reader.js';

export interface CreateProjectInput {
  readonly ownerId: string;
  readonly name: string;
}

/**
 * Creates a project; its creator is the owner and the payer.
 * @throws CommandRejected invalid_request, project_limit_reached
 */
export type CreateProject = (
  input: CreateProjectInput,
  context: CommandContext,
) => Promise<Versioned<ProjectResource>>;

/** Checks what needs no store. @throws CommandRejected invalid_request */
export function checkNewProject({ name }: Pick<CreateProjectInput, 'name'>): string {
  return checkName(name);
}

export function makeCreateProject({
  handler,
  projects,
  limit,
}: Pick<ProjectDeps, 'handler' | 'projects'> & {
  readonly limit: CountLimit;
}): CreateProject {
  return async ({ ownerId, name }, context) => {
    const id = derivedId(context, 'project');
    const command = { type: 'Create', name: checkNewProject({ name }), ownerId } as const;
    const target = { aggregate: projectAggregate, id };
    const { documents } = await limit.adding(ownerId, id, () =>
      handler.handle(target, command, context, loadOfNew(context)),
    );
    // Null only for a repetition after the creator has left.
    return (
      (await projects.after(documents, ownerId)) ??
      rejectProject('project_not_found', 'there is no such project')
    );
  };
}
