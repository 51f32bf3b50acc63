import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import { projectAggregate } from '../domain/project/project.js';
import { storageAggregate } from '../domain/storage/storage.js';

/** The first storage of a project that works becomes its default (DESIGN 4.3). */
export interface ChooseFirstDefault {
  /** Whether the storage works and its project has no default. */
  isWanted(storageId: string): Promise<boolean>;
  /** Changes nothing where it is not wanted any more. */
  choose(storageId: string, context: CommandContext): Promise<void>;
}

export function makeChooseFirstDefault({
  handler,
}: {
  readonly handler: CommandHandler;
}): ChooseFirstDefault {
  return {
    isWanted: async (storageId) => (await find(storageId)) !== null,
    choose: async (storageId, context) => {
      const found = await find(storageId);
      if (found === null) return;
      const { projectId, replaces } = found;
      const target = { aggregate: projectAggregate, id: projectId };
      await handler.handle(target, { type: 'ReplaceDefaultStorage', replaces, storageId }, context);
    },
  };

  /** The project, and what its default is by now: nothing, or a storage that has been deleted, which counts as none. */
  async function find(
    storageId: string,
  ): Promise<{ readonly projectId: string; readonly replaces: string | null } | null> {
    const { state: storage } = await handler.load(storageAggregate, storageId);
    if (storage.status !== 'active') return null;
    const { projectId } = storage;
    const { state: project } = await handler.load(projectAggregate, projectId);
    if (project.status !== 'existing') return null;
    const replaces = project.defaultStorageId;
    if (replaces !== null) {
      const { state: present } = await handler.load(storageAggregate, replaces);
      if (present.status !== 'deleted') return null;
    }
    return { projectId, replaces };
  }
}
