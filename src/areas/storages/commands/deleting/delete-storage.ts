import type { StorageDeps } from '../../deps.js';
import type { HandleOptions } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import { rejectStorage } from '../../domain/storage/rejections.js';
import { existingStorage, firstCredentialsVersion, storageAggregate } from '../../domain/storage/storage.js';
import type { StorageAddress } from '../switch-storage.js';
import { type StorageEvent, storageCategory, storageCodec } from '../../domain/storage/events.js';
import type { Reaction } from '../../../../event-sourcing/effects/reaction.js';
import { streamIdOf } from '../../../../event-sourcing/ports/domain-event.js';

type StorageDeleted = Extract<StorageEvent, { type: 'StorageDeleted' }>;

/** Destroys the keys of a deleted storage's credentials. The request does so too, unless it stopped early. */
export function makeEraseStorageCredentials({
  destroyCredentials,
}: {
  readonly destroyCredentials: DestroyCredentials;
}): Reaction<StorageDeleted> {
  return {
    name: 'erase-storage-credentials',
    category: storageCategory,
    codec: storageCodec,
    types: ['StorageDeleted'],
    // A second destruction changes nothing, so no check of the outcome is needed.
    asks: () => Promise.resolve('yes'),
    conclude: (event) => destroyCredentials(streamIdOf(event)),
  };
}

/**
 * Deletes a storage and destroys the keys of its credentials. It refuses a storage with assets, and the default storage
 * while the project has others.
 * @throws CommandRejected storage_not_found, storage_in_use; PreconditionFailed
 */
export type DeleteStorage = (
  input: StorageAddress,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<void>;

/** Destroys the keys of every version of a deleted storage's credentials; does nothing while the storage exists. */
export type DestroyCredentials = (storageId: string) => Promise<void>;

export function makeDeleteStorage({
  handler,
  storages,
  hasAssets,
  destroyCredentials,
}: Pick<StorageDeps, 'handler' | 'storages'> & {
  readonly hasAssets: (storageId: string) => Promise<boolean>;
  readonly destroyCredentials: DestroyCredentials;
}): DeleteStorage {
  return async ({ projectId, storageId }, context, options) => {
    // A storage of another project is rejected before its views are read.
    existingStorage((await handler.load(storageAggregate, storageId)).state, projectId);
    const [found, ids, keepsAssets] = await Promise.all([
      storages.find(projectId, storageId),
      storages.ids(projectId, 2),
      hasAssets(storageId),
    ]);
    if (found?.resource.is_default === true && ids.some((id) => id !== storageId)) {
      rejectStorage('storage_in_use', 'this is the default storage; choose another one first');
    }
    if (keepsAssets) {
      rejectStorage('storage_in_use', 'assets are kept in this storage; remove them first');
    }
    const target = { aggregate: storageAggregate, id: storageId };
    await handler.handle(target, { type: 'Delete', projectId }, context, {
      ...options,
      revokesAccess: true,
    });
    await destroyCredentials(storageId);
  };
}

export function makeDestroyCredentials({
  handler,
  sealer,
}: Pick<StorageDeps, 'handler' | 'sealer'>): DestroyCredentials {
  return async (storageId) => {
    const { state } = await handler.load(storageAggregate, storageId);
    if (state.status !== 'deleted') return;
    const { projectId, credentialsVersion } = state;
    for (let version = firstCredentialsVersion; version <= credentialsVersion; version += 1) {
      await sealer.destroy({ kind: 'storage-credentials', projectId, storageId, version });
    }
  };
}
