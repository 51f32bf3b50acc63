import type { ProjectDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { projectAggregate } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import { checkName } from '../../../validation/text.js';
import type { ProjectResource } from '../../../../projections/projects/projects/reader.js';

export interface ChangeProjectInput {
  readonly projectId: string;
  readonly actorId: string;
  /** Undefined fields do not change. */
  readonly name: string | undefined;
  readonly requireTwoFactor: boolean | undefined;
  /** `#rrggbb`. */
  readonly accentColor?: string | null | undefined;
  readonly openShares?: boolean | undefined;
}

/**
 * Changes a project's name, the requirement of two-factor authentication, and the settings of its shares.
 * @throws CommandRejected invalid_request, project_not_found; PreconditionFailed
 */
export type ChangeProject = (
  input: ChangeProjectInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<ProjectResource>>;

export function makeChangeProject({
  handler,
  projects,
}: Pick<ProjectDeps, 'handler' | 'projects'>): ChangeProject {
  return async (
    { projectId, actorId, name, requireTwoFactor, accentColor, openShares },
    context,
    options,
  ) => {
    const change = {
      type: 'Change',
      name: name === undefined ? undefined : checkName(name),
      requireTwoFactor,
      accentColor: accentColor?.toLowerCase() ?? accentColor,
      openShares,
    } as const;
    const target = { aggregate: projectAggregate, id: projectId };
    // The requirement takes access from members without a second factor, and `openShares: false` from visitors.
    const { documents } = await handler.handle(target, change, context, { ...options, revokesAccess: true });
    // Null where another member removed the actor meanwhile.
    return (
      (await projects.after(documents, actorId)) ??
      rejectProject('project_not_found', 'there is no such project')
    );
  };
}
