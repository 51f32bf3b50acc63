import type { StorageDeps } from '../../deps.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import { storageAggregate } from '../../domain/storage/storage.js';

/** Makes the first storage of a project that becomes active its default (src/areas/storages/README.md#default-storage). */
export interface ChooseFirstDefault {
  /** Says whether the storage is active and its project has no default. */
  isWanted(storageId: string): Promise<boolean>;
  /** Makes the storage the default; does nothing unless `isWanted`. */
  choose(storageId: string, context: CommandContext): Promise<void>;
}

export function makeChooseFirstDefault({ handler }: Pick<StorageDeps, 'handler'>): ChooseFirstDefault {
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

  /** Returns the project, and its deleted default to replace; null where the storage must not become the default. */
  async function find(
    storageId: string,
  ): Promise<{ readonly projectId: string; readonly replaces: string | null } | null> {
    const { state: storage } = await handler.load(storageAggregate, storageId);
    if (storage.status !== 'active') return null;
    const { projectId } = storage;
    const { state: project } = await handler.load(projectAggregate, projectId);
    if (project.status !== 'existing') return null;
    const replaces = project.default_storage_id;
    if (replaces !== null) {
      const { state: present } = await handler.load(storageAggregate, replaces);
      if (present.status !== 'deleted') return null;
    }
    return { projectId, replaces };
  }
}
