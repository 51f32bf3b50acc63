import { beginning, type CommandContext, type CommandHandler } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import type { Versioned } from '../event-sourcing/views.js';
import { projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import { checkName } from '../domain/text.js';
import type { ProjectReader, ProjectResource } from '../../projections/projects/reader.js';

export interface CreateProjectInput {
  readonly ownerId: string;
  readonly name: string;
}

/** Creates a project that belongs to its creator. @throws CommandRejected invalid_request */
export type CreateProject = (
  input: CreateProjectInput,
  context: CommandContext,
) => Promise<Versioned<ProjectResource>>;

export function makeCreateProject({
  handler,
  projects,
}: {
  readonly handler: CommandHandler;
  readonly projects: Pick<ProjectReader, 'after'>;
}): CreateProject {
  return async ({ ownerId, name }, context) => {
    const id = derivedId(context, 'project');
    const command = { type: 'Create', name: checkName(name), ownerId } as const;
    const { documents } = await handler.handle(
      { aggregate: projectAggregate, id },
      command,
      context,
      beginning(context),
    );
    // Null only for a repetition after the creator has left.
    return (
      projects.after(documents, ownerId) ?? rejectProject('project_not_found', 'there is no such project')
    );
  };
}
