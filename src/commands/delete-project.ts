import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import { projectAggregate } from '../domain/project/project.js';

export interface DeleteProjectInput {
  readonly projectId: string;
}

/** Deletes a project: nobody reaches anything of it any more. @throws CommandRejected project_not_found; PreconditionFailed */
export type DeleteProject = (
  input: DeleteProjectInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<void>;

export function makeDeleteProject({ handler }: { readonly handler: CommandHandler }): DeleteProject {
  return async ({ projectId }, context, options) => {
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, { type: 'Delete' }, context, { ...options, revokesAccess: true });
  };
}
