import { everyId } from '../../shared/deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { onDeletedProjects } from '../../projects/commands/projects.js';
import { projectAggregate } from '../../projects/domain/project/project.js';
import type { Shows } from '../../shared/once-shown.js';
import type { StorageDeps } from '../deps.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import { existingStorage, firstCredentialsVersion, storageAggregate } from '../domain/storage/storage.js';
import type { StorageAddress } from './changing.js';
import { on } from '../../../event-sourcing/effects/reaction.js';

type Deleting = ReturnType<typeof makeDeleting>;

/**
 * Makes the deletions of storages. Those of deleted projects no client can reach, and their credentials would stay for ever
 * (src/areas/storages/README.md#deleted-projects).
 */
export function makeDeleting(
  deps: Pick<StorageDeps, 'handler' | 'storages' | 'sealer'> & {
    readonly hasAssets: (storageId: string) => Promise<boolean>;
  },
) {
  const { handler, storages, sealer, hasAssets } = deps;
  const drop = async (storageId: string, context: CommandContext): Promise<void> => {
    await handler.handle(storageAggregate.at(storageId), { type: 'DeleteOrphaned' }, context);
  };
  /** Destroys the keys of every version of a deleted storage's credentials; does nothing while the storage exists. */
  const destroyCredentials = async (storageId: string): Promise<void> => {
    const { state } = await handler.load(storageAggregate, storageId);
    if (state.status !== 'deleted') return;
    const { projectId, credentialsVersion } = state;
    for (let version = firstCredentialsVersion; version <= credentialsVersion; version += 1) {
      await sealer.destroy({ kind: 'storage-credentials', projectId, storageId, version });
    }
  };
  return {
    destroyCredentials,
    /**
     * Deletes a storage and destroys the keys of its credentials. It refuses a storage with assets, and the default storage
     * while the project has others.
     * @throws CommandRejected storage_not_found, storage_in_use; PreconditionFailed
     */
    deleteStorage: async (
      { projectId, storageId }: StorageAddress,
      context: CommandContext,
      options?: Pick<HandleOptions, 'expectedRevision'>,
    ): Promise<void> => {
      // A storage of another project is rejected before its views are read.
      existingStorage((await handler.load(storageAggregate, storageId)).state, projectId);
      const [found, ids, keepsAssets] = await Promise.all([
        storages.find(projectId, storageId),
        storages.ids(projectId, { limit: 2 }),
        hasAssets(storageId),
      ]);
      if (found?.resource.is_default === true && ids.some((id) => id !== storageId))
        rejectStorage('storage_in_use', 'this is the default storage; choose another one first');
      if (keepsAssets) rejectStorage('storage_in_use', 'assets are kept in this storage; remove them first');
      const revoking = { ...options, revokesAccess: true };
      await handler.handle(storageAggregate.at(storageId), { type: 'Delete', projectId }, context, revoking);
      await destroyCredentials(storageId);
    },
    deleteOrphanedStorages: {
      /** Deletes the storages that the view shows of a deleted project: those before ProjectDeleted in the log. */
      ofProject: async (projectId: string, context: CommandContext): Promise<void> => {
        // A project may have more than the limit, because requests in flight may pass it.
        for await (const storageId of everyId((page) => storages.ids(projectId, page)))
          await drop(storageId, context);
      },
      /** Deletes a storage if its project is deleted: one that comes after ProjectDeleted in the log. */
      ifOrphaned: async ({ storageId, projectId }: StorageAddress, context: CommandContext) => {
        const { state: project } = await handler.load(projectAggregate, projectId);
        if (project.status === 'deleted') await drop(storageId, context);
      },
    },
  };
}

/** Destroys the keys of a deleted storage's credentials. The request does so too, unless it stopped early. */
export function makeEraseStorageCredentials({ destroyCredentials }: Pick<Deleting, 'destroyCredentials'>) {
  return on(storageAggregate, ['StorageDeleted'], {
    name: 'erase-storage-credentials',
    // A second destruction changes nothing, so no check of the outcome is needed.
    isDue: () => Promise.resolve(true),
    run: destroyCredentials,
  });
}

/** Deletes the storages of a deleted project. `erase-storage-credentials` then destroys their keys. */
export function makeDeleteProjectStorages({
  deleteOrphanedStorages,
  storagesShown,
}: Pick<Deleting, 'deleteOrphanedStorages'> & {
  /** Says whether the view of storages has reached the position. */
  readonly storagesShown: Shows;
}) {
  const run = deleteOrphanedStorages.ofProject;
  return onDeletedProjects({ name: 'delete-project-storages', shows: storagesShown, run });
}

/** Deletes a storage whose StorageCreated comes after ProjectDeleted: its command read the project before the deletion. */
export function makeDeleteLateStorages({ deleteOrphanedStorages }: Pick<Deleting, 'deleteOrphanedStorages'>) {
  return on(storageAggregate, ['StorageCreated'], {
    name: 'delete-late-storages',
    // `ifOrphaned` itself reads whether the project is deleted.
    isDue: () => Promise.resolve(true),
    run: (storageId, context, { data: { project_id: projectId } }) =>
      deleteOrphanedStorages.ifOrphaned({ storageId, projectId }, context),
  });
}
