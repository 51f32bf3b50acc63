import type { Deps } from '../../../shared/deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Page } from '../../../../event-sourcing/views/views.js';
import { projectAggregate, type ProjectState } from '../../../projects/domain/project/project.js';
import { roleIn } from '../../../projects/domain/project/status.js';
import { rejectProject } from '../../../projects/domain/project/rejections.js';
import { userAggregate } from '../../domain/user/user.js';
import { everyId } from '../../../shared/every-id.js';
import type { FinishErasure } from './finish-erasure.js';
import { isRejection } from '../../../shared/rejections.js';

export interface EraseUserInput {
  readonly userId: string;
}

/**
 * Deletes an account and the projects that have no other member (docs/design.md#erasure). When it resolves, every later
 * request by the user's sessions and API keys is refused. A repetition changes nothing.
 * @throws CommandRejected user_not_found; project_has_members where a project with other members would lose its
 * owner or its payer
 */
export type EraseUser = (input: EraseUserInput, context: CommandContext) => Promise<void>;

export function makeEraseUser({
  handler,
  projects,
  finishErasure,
}: Pick<Deps, 'handler' | 'projects'> & {
  readonly finishErasure: FinishErasure;
}): EraseUser {
  return async ({ userId }, context) => {
    // Every project is judged before the first is deleted.
    for (const projectId of await projectsOwnedAlone(userId)) await deleteProject(projectId, userId, context);
    const target = { aggregate: userAggregate, id: userId };
    await handler.handle(target, { type: 'Erase' }, context, { revokesAccess: true });
    // From here on, a reaction completes the erasure if this process crashes.
    await finishErasure({ userId }, context);
  };

  async function projectsOwnedAlone(userId: string): Promise<readonly string[]> {
    const readPage = async (page: Page): Promise<readonly string[]> =>
      (await projects.list(userId, page)).map(({ resource }) => resource.id);
    const alone: string[] = [];
    for await (const projectId of everyId(readPage)) {
      const { state } = await handler.load(projectAggregate, projectId);
      switch (standing(state, userId)) {
        case 'alone':
          alone.push(projectId);
          break;
        case 'needed':
          rejectProject(
            'project_has_members',
            `the project ${projectId} has other members and no other owner; make one of them owner, or delete it`,
          );
          break;
        case 'payer':
          rejectProject(
            'project_has_members',
            `the project ${projectId} is billed to this account; another owner takes the billing first, or delete it`,
          );
          break;
        case 'dispensable':
      }
    }
    return alone;
  }

  async function deleteProject(projectId: string, userId: string, context: CommandContext): Promise<void> {
    const target = { aggregate: projectAggregate, id: projectId };
    try {
      await handler.handle(target, { type: 'DeleteIfAlone', userId }, context, { revokesAccess: true });
    } catch (error) {
      // Another owner joined meanwhile and removed the user.
      if (!isRejection(error, 'member_not_found')) throw error;
    }
  }
}

/** Says whether the user is the only member of the project, its only owner, its payer, or dispensable. */
function standing(state: ProjectState, userId: string): 'alone' | 'needed' | 'payer' | 'dispensable' {
  if (state.status !== 'existing' || roleIn(state, userId) !== 'owner') return 'dispensable';
  const others = state.members.filter(({ user_id }) => user_id !== userId);
  if (others.length === 0) return 'alone';
  if (!others.some(({ role }) => role === 'owner')) return 'needed';
  return state.billed_to === userId ? 'payer' : 'dispensable';
}
