import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import { firstCredentialsVersion, storageAggregate } from '../domain/storage/storage.js';
import type { Sealer } from '../keys/sealer.js';
import type { StorageReader } from '../../projections/storage-configs/reader.js';
import type { StorageOwnership } from './storage-ownership.js';
import type { StorageAddress } from './switch-storage.js';

/**
 * Deletes a storage and destroys the keys of its credentials. The default goes last, and none while assets are kept in it.
 * @throws CommandRejected storage_not_found, storage_in_use; PreconditionFailed
 */
export type DeleteStorage = (
  input: StorageAddress,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<void>;

/** Destroys the keys of all credentials that a deleted storage has ever had; once more changes nothing. */
export type DestroyCredentials = (storageId: string) => Promise<void>;

export function makeDeleteStorage({
  handler,
  ownership,
  storages,
  hasAssets,
  destroyCredentials,
}: {
  readonly handler: CommandHandler;
  readonly ownership: StorageOwnership;
  readonly storages: Pick<StorageReader, 'find' | 'ids'>;
  /** Whether the storage keeps assets. */
  readonly hasAssets: (storageId: string) => Promise<boolean>;
  readonly destroyCredentials: DestroyCredentials;
}): DeleteStorage {
  return async ({ projectId, storageId }, context, options) => {
    await ownership.require(projectId, storageId);
    const found = await storages.find(projectId, storageId);
    if (found?.resource.is_default === true) {
      const others = (await storages.ids(projectId, 2)).filter((id) => id !== storageId);
      if (others.length > 0) {
        rejectStorage('storage_in_use', 'this is the default storage; choose another one first');
      }
    }
    if (await hasAssets(storageId)) {
      rejectStorage('storage_in_use', 'assets are kept in this storage; remove them first');
    }
    const target = { aggregate: storageAggregate, id: storageId };
    await handler.handle(target, { type: 'Delete' }, context, { ...options, revokesAccess: true });
    await destroyCredentials(storageId);
  };
}

export function makeDestroyCredentials({
  handler,
  sealer,
}: {
  readonly handler: Pick<CommandHandler, 'load'>;
  readonly sealer: Pick<Sealer, 'destroy'>;
}): DestroyCredentials {
  return async (storageId) => {
    const { state } = await handler.load(storageAggregate, storageId);
    if (state.status !== 'deleted') return;
    const { projectId, credentialsVersion } = state;
    for (let version = firstCredentialsVersion; version <= credentialsVersion; version += 1) {
      await sealer.destroy({ kind: 'storage-credentials', projectId, storageId, version });
    }
  };
}
