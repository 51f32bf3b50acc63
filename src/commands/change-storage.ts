import type { CommandContext, CommandHandler, HandleOptions } from '../event-sourcing/command-handler.js';
import { derivedId } from '../event-sourcing/ids.js';
import type { Versioned } from '../event-sourcing/views.js';
import { checkConfiguration, type StorageConfiguration } from '../domain/storage/configuration.js';
import { storageAggregate } from '../domain/storage/storage.js';
import type { StorageReader, StorageResource } from '../../projections/storage-configs/reader.js';
import type { StorageOwnership } from './storage-ownership.js';

export interface ChangeStorageInput {
  readonly projectId: string;
  readonly storageId: string;
  readonly changes: {
    readonly [Field in keyof Omit<StorageConfiguration, 'provider'>]?: string | undefined;
  };
}

/** A storage after a change, and whether what was asked for has to pass a test first (202). */
export interface StorageChange extends Versioned<StorageResource> {
  readonly isTested: boolean;
}

/**
 * Changes the fields that are given. Another connection of an active storage is tested before it takes over, and what else is
 * given with it waits too; other changes apply at once (DESIGN 4.3).
 * @throws CommandRejected storage_not_found, invalid_request, storage_test_running; PreconditionFailed
 */
export type ChangeStorage = (
  input: ChangeStorageInput,
  context: CommandContext,
  options?: Pick<HandleOptions, 'expectedRevision'>,
) => Promise<StorageChange>;

export function makeChangeStorage({
  handler,
  ownership,
  storages,
  allowsHttp,
}: {
  readonly handler: CommandHandler;
  readonly ownership: StorageOwnership;
  readonly storages: Pick<StorageReader, 'after'>;
  /** See `makeAllowedAddresses`. */
  readonly allowsHttp: (address: string) => boolean;
}): ChangeStorage {
  return async ({ projectId, storageId, changes }, context, options) => {
    await ownership.require(projectId, storageId);
    const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
    const { events, documents } = await handler.handle(
      { aggregate: storageAggregate, id: storageId },
      {
        type: 'Change',
        change: (present) => checkConfiguration({ ...present, ...given }, allowsHttp),
        testId: derivedId(context, 'test'),
      },
      context,
      options,
    );
    const isTested = events.some(({ type }) => type === 'StorageTestStarted');
    return { ...(await storages.after(documents)), isTested };
  };
}
