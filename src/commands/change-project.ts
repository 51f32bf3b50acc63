import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import type { Versioned } from '../event-sourcing/views.js';
import { projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import { checkName } from '../domain/text.js';
import type { ProjectReader, ProjectResource } from '../../projections/projects/reader.js';

export interface ChangeProjectInput {
  readonly projectId: string;
  readonly actor: { readonly id: string; readonly twoFactorEnabled: boolean };
  /** What is undefined stays. */
  readonly name: string | undefined;
  readonly requireTwoFactor: boolean | undefined;
}

/**
 * Changes a project's name, and whether its members need two-factor authentication.
 * @throws CommandRejected invalid_request, project_not_found, two_factor_required; PreconditionFailed
 */
export type ChangeProject = (
  input: ChangeProjectInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<ProjectResource>>;

export function makeChangeProject({
  handler,
  projects,
}: {
  readonly handler: CommandHandler;
  readonly projects: Pick<ProjectReader, 'after'>;
}): ChangeProject {
  return async ({ projectId, actor, name, requireTwoFactor }, context, options) => {
    const change = {
      type: 'Change',
      name: name === undefined ? undefined : checkName(name),
      requireTwoFactor,
    } as const;
    if (requireTwoFactor === true && !actor.twoFactorEnabled) {
      // They would lock themselves out.
      rejectProject('two_factor_required', 'turn two-factor authentication on for your own account first');
    }
    const target = { aggregate: projectAggregate, id: projectId };
    // Who has no second factor loses access by the requirement.
    const { documents } = await handler.handle(target, change, context, { ...options, revokesAccess: true });
    // Null where the actor has been removed meanwhile.
    return (
      projects.after(documents, actor.id) ?? rejectProject('project_not_found', 'there is no such project')
    );
  };
}
