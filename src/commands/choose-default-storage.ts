import type { CommandContext, CommandHandler } from '../event-sourcing/command-handler.js';
import type { Versioned } from '../event-sourcing/views.js';
import { projectAggregate } from '../domain/project/project.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import type { StorageReader, StorageResource } from '../../projections/storage-configs/reader.js';
import type { StorageOwnership } from './storage-ownership.js';
import type { StorageAddress } from './switch-storage.js';

/** Makes an active storage the project's default. @throws CommandRejected storage_not_found, storage_not_active */
export type ChooseDefaultStorage = (
  input: StorageAddress,
  context: CommandContext,
) => Promise<Versioned<StorageResource>>;

export function makeChooseDefaultStorage({
  handler,
  ownership,
  storages,
}: {
  readonly handler: CommandHandler;
  readonly ownership: StorageOwnership;
  readonly storages: Pick<StorageReader, 'find'>;
}): ChooseDefaultStorage {
  return async ({ projectId, storageId }, context) => {
    const { status } = await ownership.require(projectId, storageId);
    if (status !== 'active') rejectStorage('storage_not_active', 'only an active storage can be the default');
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, { type: 'ChangeDefaultStorage', storageId }, context);
    const found = await storages.find(projectId, storageId);
    return found ?? rejectStorage('storage_not_found', 'the storage does not exist');
  };
}
