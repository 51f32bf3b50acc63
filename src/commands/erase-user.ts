import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import type { Page } from '../event-sourcing/views.js';
import { projectAggregate, type ProjectState } from '../domain/project/project.js';
import { rejectProject } from '../domain/project/rejections.js';
import { userAggregate } from '../domain/user/user.js';
import type { ProjectReader } from '../../projections/projects/reader.js';
import { everyId } from './every-id.js';
import type { FinishErasure } from './finish-erasure.js';
import { isRejection } from './rejections.js';

export interface EraseUserInput {
  readonly userId: string;
}

/**
 * Deletes an account and what only it knows (DESIGN 3, Erasure): projects that nobody else is a member of are deleted with
 * it. When it resolves, no session of the user and no API key that they issued passes any more. Once more changes nothing.
 * @throws CommandRejected user_not_found; project_has_members, while another project would be left without an owner
 */
export type EraseUser = (input: EraseUserInput, context: CommandContext) => Promise<void>;

export function makeEraseUser({
  handler,
  projects,
  finishErasure,
}: {
  readonly handler: CommandHandler;
  readonly projects: Pick<ProjectReader, 'list'>;
  readonly finishErasure: FinishErasure;
}): EraseUser {
  return async ({ userId }, context) => {
    // All of them are looked at before the first is deleted.
    for (const projectId of await projectsOwnedAlone(userId)) await deleteProject(projectId, userId, context);
    const target = { aggregate: userAggregate, id: userId };
    await handler.handle(target, { type: 'Erase' }, context, { revokesAccess: true });
    // From here on a reaction goes on where this process might stop.
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
      // Removed by another owner who came and went meanwhile.
      if (!isRejection(error, 'member_not_found')) throw error;
    }
  }
}

/** What the project is without the user: nobody's, without an owner, or well. */
function standing(state: ProjectState, userId: string): 'alone' | 'needed' | 'dispensable' {
  if (state.status !== 'existing' || state.members.get(userId) !== 'owner') return 'dispensable';
  const others = [...state.members].filter(([memberId]) => memberId !== userId);
  if (others.length === 0) return 'alone';
  return others.some(([, role]) => role === 'owner') ? 'dispensable' : 'needed';
}
