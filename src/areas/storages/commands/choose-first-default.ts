import type { StorageDeps } from '../deps.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { projectAggregate } from '../../projects/domain/project/project.js';
import { storageAggregate } from '../domain/storage/storage.js';
import { on } from '../../../event-sourcing/effects/reaction.js';

/** Makes the first storage of a project that passes a test its default. */
export function makeChooseFirstDefaultReaction({
  chooseFirstDefault,
}: {
  readonly chooseFirstDefault: ReturnType<typeof makeChooseFirstDefault>;
}) {
  return on(storageAggregate, ['StorageTestSucceeded'], {
    name: 'choose-first-default',
    isDue: chooseFirstDefault.isWanted,
    run: chooseFirstDefault.choose,
  });
}

/** Makes the first storage of a project that becomes active its default (src/areas/storages/README.md#default-storage). */
export function makeChooseFirstDefault({ handler }: Pick<StorageDeps, 'handler'>) {
  return {
    /** Says whether the storage is active and its project has no default. */
    isWanted: async (storageId: string): Promise<boolean> => (await find(storageId)) !== null,
    /** Makes the storage the default; does nothing unless `isWanted`. */
    choose: async (storageId: string, context: CommandContext): Promise<void> => {
      const found = await find(storageId);
      if (found === null) return;
      const { projectId, replaces } = found;
      const command = { type: 'ReplaceDefaultStorage', replaces, storageId } as const;
      await handler.handle(projectAggregate.at(projectId), command, context);
    },
  };

  /** Returns the project, and its deleted default to replace; null where the storage must not become the default. */
  async function find(storageId: string) {
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
