import type { ProjectDeps } from '../deps.js';
import {
  type HandleOptions,
  loadOfNew,
  derivedId,
} from '../../../event-sourcing/deciding/command-handler.js';
import { on } from '../../../event-sourcing/effects/reaction.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import type { GrantSource } from '../../../validation/fields.js';
import { type CountLimit, makeCountLimit } from '../../shared/count-limit.js';
import { onceShown, type Shows } from '../../shared/once-shown.js';
import type { ProjectResource } from '../../../../projections/projects/projects/reader.js';
import type { Entitlement } from '../domain/project/events.js';
import { ownersOf } from '../domain/project/fold.js';
import {
  ownedProjectsMax,
  projectAggregate,
  type ProjectSettings,
  sourcesOf,
} from '../domain/project/project.js';
import { projectNotFound, rejectProject } from '../domain/project/rejections.js';
import { RemovedSince } from '../../../event-sourcing/ports/errors.js';

interface EntitlementInput {
  readonly projectId: string;
  readonly entitlement: Entitlement;
  /** The project has the entitlement while one source grants it. */
  readonly source: GrantSource;
}

type Options = Pick<HandleOptions, 'expectedRevision'>;

/** Makes the use cases for projects themselves (src/areas/projects/README.md#rules-of-a-project). */
export function makeProjects(
  deps: ProjectDeps & {
    /** Of the projects that a user owns. */
    readonly limit: CountLimit;
  },
) {
  const { handler, projects, limit } = deps;
  const targetOf = (projectId: string) => projectAggregate.at(projectId);
  return {
    /**
     * Creates a project; its creator is the owner and the payer.
     * @throws CommandRejected project_limit_reached; RemovedSince, also where its creator has left it
     */
    createProject: async (
      { ownerId, name }: { readonly ownerId: string; readonly name: string },
      context: CommandContext,
    ): Promise<Versioned<ProjectResource>> => {
      const id = derivedId(context, 'project');
      const command = { type: 'Create', name, ownerId } as const;
      const { documents } = await limit.adding(ownerId, id, () =>
        handler.handle(targetOf(id), command, context, loadOfNew(context)),
      );
      // Null only for a repetition after the creator has left.
      const project = await projects.after(documents, ownerId, { isNew: context.isUnique === true });
      if (project === null) throw new RemovedSince();
      return project;
    },
    /**
     * Changes a project's name, the requirement of two-factor authentication, and the settings of its shares.
     * @throws CommandRejected project_not_found; PreconditionFailed
     */
    changeProject: async (
      input: { readonly projectId: string; readonly actorId: string; readonly changes: ProjectSettings },
      context: CommandContext,
      options?: Options,
    ): Promise<Versioned<ProjectResource>> => {
      const { accent_color, ...changes } = input.changes;
      const change = {
        ...changes,
        type: 'Change',
        accent_color: accent_color?.toLowerCase() ?? accent_color,
      } as const;
      // The requirement takes access from members without a second factor, and `open_shares: false` from visitors.
      const revoking = { ...options, revokesAccess: true };
      const { documents } = await handler.handle(targetOf(input.projectId), change, context, revoking);
      // Null where another member removed the actor meanwhile.
      return (await projects.after(documents, input.actorId)) ?? projectNotFound();
    },
    /** Deletes a project; no request reaches it any more. @throws CommandRejected project_not_found; PreconditionFailed */
    deleteProject: async (
      { projectId }: { readonly projectId: string },
      context: CommandContext,
      options?: Options,
    ): Promise<void> => {
      const revoking = { ...options, revokesAccess: true };
      await handler.handle(targetOf(projectId), { type: 'Delete' }, context, revoking);
    },
    /** Grants a project an entitlement; a repetition changes nothing. @throws CommandRejected project_not_found */
    grantEntitlement: async ({ projectId, ...grant }: EntitlementInput, context: CommandContext) => {
      await handler.handle(targetOf(projectId), { type: 'GrantEntitlement', ...grant }, context);
    },
    /**
     * Revokes the grant of one source, in every process before it resolves; does nothing where the source granted nothing.
     * @returns the sources that still grant the entitlement
     * @throws CommandRejected project_not_found; StoreUnavailable while documents cannot be written
     */
    revokeEntitlement: async (
      { projectId, ...grant }: EntitlementInput,
      context: CommandContext,
    ): Promise<readonly string[]> => {
      const revoke = { type: 'RevokeEntitlement', ...grant } as const;
      await handler.handle(targetOf(projectId), revoke, context, { revokesAccess: true });
      const { state } = await handler.load(projectAggregate, projectId);
      return state.status === 'existing' ? sourcesOf(state, grant.entitlement) : [];
    },
  };
}

/** Makes a reaction to the deletion of projects, once the view that it reads has reached the event. */
export function onDeletedProjects(reaction: {
  readonly name: string;
  readonly shows: Shows;
  readonly run: (projectId: string, context: CommandContext) => Promise<void>;
}) {
  const { name, shows, run } = reaction;
  return on(projectAggregate, ['ProjectDeleted'], { name, isDue: onceShown(shows), run });
}

/** Limits the projects that a user owns or pays for. `adding` throws CommandRejected project_limit_reached. */
export function makeProjectLimit({ handler, projects, viewLags }: ProjectDeps): CountLimit {
  return makeCountLimit({
    max: ownedProjectsMax,
    inView: (userId, limit) => projects.ownedIds(userId, limit),
    counts: async (projectId, userId) => {
      const { state } = await handler.load(projectAggregate, projectId);
      return state.status === 'existing' && ownersOf(state).includes(userId);
    },
    refuse: () =>
      rejectProject('project_limit_reached', `a user owns at most ${ownedProjectsMax} projects; delete one`),
    requireFresh: () => viewLags.requireFresh('projects'),
  });
}

/** Returns the user whose capacity the assets of a project use. @throws CommandRejected project_not_found */
export type PayerOf = ReturnType<typeof makePayerOf>;

export function makePayerOf({ handler }: ProjectDeps) {
  return async (projectId: string) => {
    const { state } = await handler.load(projectAggregate, projectId);
    return state.status === 'existing' ? state.billed_to : projectNotFound();
  };
}
