import type { StorageDeps } from '../deps.js';
import type { HandleOptions } from '../../../event-sourcing/deciding/command-handler.js';
import type { CommandContext } from '../../../event-sourcing/ports/command-context.js';
import { derivedId } from '../../../event-sourcing/deciding/ids.js';
import type { Versioned } from '../../../event-sourcing/views/views.js';
import { storageAggregate, type StorageCommand } from '../domain/storage/storage.js';
import type { StorageResource } from '../../../../projections/storages/storage-configs/reader.js';

export interface StorageAddress {
  readonly projectId: string;
  readonly storageId: string;
}

type Options = Pick<HandleOptions, 'expectedRevision'>;
type Switch = (
  input: StorageAddress,
  context: CommandContext,
  options?: Options,
) => Promise<Versioned<StorageResource>>;

/** Commands that switch a storage. Each throws CommandRejected storage_not_found; PreconditionFailed. */
export interface SwitchStorage {
  /** Starts a test of the present configuration. @throws CommandRejected storage_disabled, storage_test_running */
  readonly testStorage: Switch;
  /** Disables a storage in any state; it serves nothing from then on. */
  readonly disableStorage: Switch;
  /** Makes a disabled storage pending until it passes a test. */
  readonly enableStorage: Switch;
}

export function makeSwitchStorage({
  handler,
  storages,
}: Pick<StorageDeps, 'handler' | 'storages'>): SwitchStorage {
  const carryOut = async (
    storageId: string,
    command: StorageCommand,
    context: CommandContext,
    options?: HandleOptions,
  ): Promise<Versioned<StorageResource>> => {
    const target = { aggregate: storageAggregate, id: storageId };
    const { documents } = await handler.handle(target, command, context, options);
    return storages.after(documents);
  };
  return {
    testStorage: ({ projectId, storageId }, context, options) => {
      const testId = derivedId(context, 'test');
      return carryOut(storageId, { type: 'StartTest', projectId, testId }, context, options);
    },
    disableStorage: ({ projectId, storageId }, context, options) =>
      carryOut(storageId, { type: 'Disable', projectId }, context, options),
    enableStorage: ({ projectId, storageId }, context, options) =>
      carryOut(storageId, { type: 'Enable', projectId }, context, options),
  };
}
