import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import { PreconditionFailed } from '../event-sourcing/errors.js';
import type { Versioned } from '../event-sourcing/views.js';
import { projectAggregate } from '../domain/project/project.js';
import { rejectStorage } from '../domain/storage/rejections.js';
import { storageAggregate } from '../domain/storage/storage.js';
import type { StorageReader, StorageResource } from '../../projections/storage-configs/reader.js';
import type { StorageOwnership } from './storage-ownership.js';
import type { StorageAddress } from './switch-storage.js';

/**
 * Makes an active storage the project's default. `expectedRevision` is the storage's.
 * @throws CommandRejected storage_not_found, storage_not_active; PreconditionFailed
 */
export type ChooseDefaultStorage = (
  input: StorageAddress,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
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
  return async ({ projectId, storageId }, context, { expectedRevision } = {}) => {
    const { status } = await ownership.require(projectId, storageId);
    const { revision } = await handler.load(storageAggregate, storageId);
    if (expectedRevision !== undefined && expectedRevision !== revision) {
      throw new PreconditionFailed('the storage has changed since the revision named in If-Match');
    }
    if (status !== 'active') rejectStorage('storage_not_active', 'only an active storage can be the default');
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, { type: 'ChangeDefaultStorage', storageId }, context);
    const found = await storages.find(projectId, storageId);
    return found ?? rejectStorage('storage_not_found', 'the storage does not exist');
  };
}
