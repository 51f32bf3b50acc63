import { requireRevision } from '../../../../event-sourcing/deciding/expected-revision.js';
import type { StorageDeps } from '../../deps.js';
import type { HandleOptions } from '../../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../../event-sourcing/ports/command-context.js';
import type { Versioned } from '../../../../event-sourcing/views/views.js';
import { projectAggregate } from '../../../projects/domain/project/project.js';
import { rejectStorage, storageNotFound } from '../../domain/storage/rejections.js';
import { existingStorage, storageAggregate } from '../../domain/storage/storage.js';
import type { StorageResource } from '../../../../../projections/storages/storage-configs/reader.js';
import type { StorageAddress } from '../switch-storage.js';

/**
 * Makes an active storage the default of its project. `expectedRevision` is the revision of the storage.
 * @throws CommandRejected storage_not_found, storage_not_active; PreconditionFailed
 */
export type ChooseDefaultStorage = (
  input: StorageAddress,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<Versioned<StorageResource>>;

export function makeChooseDefaultStorage({
  handler,
  storages,
}: Pick<StorageDeps, 'handler' | 'storages'>): ChooseDefaultStorage {
  return async ({ projectId, storageId }, context, { expectedRevision } = {}) => {
    const { state, revision } = await handler.load(storageAggregate, storageId);
    const { status } = existingStorage(state, projectId);
    requireRevision(expectedRevision, revision);
    if (status !== 'active') rejectStorage('storage_not_active', 'only an active storage can be the default');
    const target = { aggregate: projectAggregate, id: projectId };
    await handler.handle(target, { type: 'ChangeDefaultStorage', storageId }, context);
    const found = await storages.find(projectId, storageId);
    return found ?? storageNotFound();
  };
}
