import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import type { Versioned } from '../event-sourcing/views.js';
import type { DeliveryMode } from '../domain/storage/delivery.js';
import { storageAggregate, type StorageCommand } from '../domain/storage/storage.js';
import type { StorageReader, StorageResource } from '../../projections/storage-configs/reader.js';
import type { StorageOwnership } from './storage-ownership.js';

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

/** What is done to a storage without further input. All throw CommandRejected storage_not_found; PreconditionFailed. */
export interface SwitchStorage {
  /** Begins a test of the present configuration. @throws CommandRejected storage_disabled, storage_test_running */
  readonly testStorage: Switch;
  /** From any state; what it serves stops at once. */
  readonly disableStorage: Switch;
  /** It is pending afterwards, until it is tested. */
  readonly enableStorage: Switch;
  readonly changeDelivery: (
    input: StorageAddress & { readonly mode: DeliveryMode },
    context: CommandContext,
    options?: Options,
  ) => Promise<Versioned<StorageResource>>;
}

export function makeSwitchStorage({
  handler,
  ownership,
  storages,
}: {
  readonly handler: CommandHandler;
  readonly ownership: StorageOwnership;
  readonly storages: Pick<StorageReader, 'after'>;
}): SwitchStorage {
  const carryOut = async (
    { projectId, storageId }: StorageAddress,
    command: StorageCommand,
    context: CommandContext,
    options?: HandleOptions,
  ): Promise<Versioned<StorageResource>> => {
    await ownership.require(projectId, storageId);
    const target = { aggregate: storageAggregate, id: storageId };
    const { documents } = await handler.handle(target, command, context, options);
    return storages.after(documents);
  };
  return {
    testStorage: (input, context, options) =>
      carryOut(input, { type: 'StartTest', testId: derivedId(context, 'test') }, context, options),
    disableStorage: (input, context, options) => carryOut(input, { type: 'Disable' }, context, options),
    enableStorage: (input, context, options) => carryOut(input, { type: 'Enable' }, context, options),
    changeDelivery: ({ mode, ...input }, context, options) =>
      carryOut(input, { type: 'ChangeDelivery', mode }, context, options),
  };
}
